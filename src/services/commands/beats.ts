// Signs of life of workers: they extend the leases of what a worker holds, and tell it what it holds no more.
import type { Databases } from '../../db/databases.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import { beatCommands, type CommandState, readCommandStates } from '../../stores/commands/commandQueue.js'
import type { HeldCommand } from './handOut.js'

/** `cancelled`: its execution has ended. `lost`: it is somebody else's, or answered. */
export type BeatOutcome = { kind: 'held'; leaseUntil: WireTime } | { kind: 'cancelled' } | { kind: 'lost' }

/** Without a token: whichever claim of this worker it is held by. */
export type BeatKey = Pick<HeldCommand, 'executionId' | 'eventId'> & Partial<Pick<HeldCommand, 'leaseToken'>>

/** By event id. */
export async function beat(
  databases: Databases,
  workerId: string,
  commands: readonly BeatKey[],
): Promise<Map<string, BeatOutcome>> {
  const outcomes = new Map<string, BeatOutcome>()
  await Promise.all(
    databases.shards.map(async ({ db }, shard) => {
      const group = commands.filter(({ executionId }) => databases.shardOf(executionId) === shard)
      if (group.length === 0) return
      const keys = group.map(({ executionId, eventId, leaseToken }) => ({
        executionId,
        commandId: eventId,
        leaseToken,
      }))
      await beatCommands(db, keys, workerId)
      const states = await readCommandStates(db, keys)
      const byId = new Map(states.map((state) => [state.command_id, state]))
      for (const { eventId, leaseToken } of group)
        outcomes.set(eventId, beatOutcome(byId.get(eventId), workerId, leaseToken))
    }),
  )
  return outcomes
}

function beatOutcome(state: CommandState | undefined, workerId: string, leaseToken: number | undefined): BeatOutcome {
  if (state === undefined) return { kind: 'lost' }
  if (state.status === 'CANCELLED' || isTerminalStatus(state.execution_status)) return { kind: 'cancelled' }
  const isHeld = state.worker_id === workerId && (state.status === 'CLAIMED' || state.status === 'RUNNING')
  const isSame = leaseToken === undefined || state.lease_token === String(leaseToken)
  if (!isHeld || !isSame || state.lease_until === null) return { kind: 'lost' }
  return { kind: 'held', leaseUntil: wireTimeFromPostgres(state.lease_until, 'lease_until') }
}
