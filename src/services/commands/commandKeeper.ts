// Survives the death of workers. A lease goes on while its worker gives signs of life, for the command or for itself;
// when it is over, the command goes to the next worker with a higher attempt, and after the last attempt it fails as
// lost. What time alone decides (the end of a command's time) is left to the engine, which is asked again.
//
// Several daemons may do this at once: every change names the state that it leads out of.

import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import type { NoticeFacts } from '../../domain/commands/commandNotice.js'
import { counted } from '../../domain/counted.js'
import { engineError } from '../../domain/engine/engineError.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { millisOf } from '../../domain/state/drivenState.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  type AliveWorker,
  countCommands,
  extendLeases,
  type LostCommand,
  lostCommands,
  type OpenCommands,
  overdueExecutions,
  reclaimCommands,
  takeUnnoticed,
  type UnnoticedCommand,
} from '../../stores/commands/commandKeeping.js'
import { findCommands } from '../../stores/commands/commandStore.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import type { Appender } from '../events/appender.js'
import type { Ids } from '../ids/ids.js'
import { listWorkerPools } from '../workers/workerPools.js'

export interface CommandKeeperDeps {
  databases: Databases
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
  random: () => number
  /** How long a worker may hold a command without a sign of life for the command itself. */
  hardLimitSeconds: number
  /** Commands of this shard can be claimed again. */
  onReclaimed(shard: number, commands: number): void
  onLost(commands: number): void
  /** Commands of these executions are past their time. */
  onOverdue(executionIds: readonly string[]): void
  /** Undefined: nobody listens for commands. */
  tellWorkers: ((notices: readonly NoticeFacts[]) => Promise<void>) | undefined
  onCounts(shard: number, counts: readonly OpenCommands[]): void
  onError(error: CpError): void
}

const PASS_MS = 5_000
const PAGE = 500
/** How often workers are told of a command that nobody takes. */
const NOTICE_SECONDS = 60
/** What the engine does about time by itself it has done by then. */
const OVERDUE_SECONDS = 2

export function createCommandKeeper(deps: CommandKeeperDeps): PollLoop {
  return createPollLoop({
    name: 'command keeper',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: 1_000,
    errorMsMax: PASS_MS,
    onError: deps.onError,
    runOnce: async () => ((await keepCommands(deps)) ? 'busy' : 'idle'),
  })
}

/** One pass over all shards. Answers whether there is more to do. */
export async function keepCommands(deps: CommandKeeperDeps): Promise<boolean> {
  // Whoever cannot be asked who lives must not take anything from anybody.
  const alive = await aliveWorkers(deps.databases)
  const { answers, failures } = await deps.databases.fanOut((db, shard) => keepShard(deps, db, shard, alive))
  if (failures[0] !== undefined) throw toCpError(failures[0].error)
  return answers.some(({ value }) => value)
}

/** A worker that only gives signs of life and never registered counts as one that has been there for ever. */
async function aliveWorkers(databases: Databases): Promise<AliveWorker[]> {
  const pools = await listWorkerPools(databases, { kind: 'worker_pool' })
  return pools.filter(({ isAlive }) => isAlive).map(({ name, updatedAt }) => ({ name, sinceMs: millisOf(updatedAt) }))
}

async function keepShard(deps: CommandKeeperDeps, db: Db, shard: number, alive: AliveWorker[]): Promise<boolean> {
  const extended = await extendLeases(db, alive, deps.hardLimitSeconds, PAGE)
  // Only when every worker that lives has its lease is the lease of the others really over.
  if (extended === PAGE) return true
  const reclaimed = await reclaimCommands(db, PAGE)
  if (reclaimed > 0) deps.onReclaimed(shard, reclaimed)
  if (deps.tellWorkers !== undefined) {
    const unnoticed = await takeUnnoticed(db, NOTICE_SECONDS, PAGE)
    if (unnoticed.length > 0) await deps.tellWorkers(unnoticed.map(factsOf))
  }
  const lost = await lostCommands(db, PAGE)
  let failed = 0
  for (const one of lost) if (await failLost(deps, one)) failed += 1
  if (failed > 0) deps.onLost(failed)
  const overdue = await overdueExecutions(db, PAGE, OVERDUE_SECONDS)
  if (overdue.length > 0) deps.onOverdue(overdue)
  deps.onCounts(shard, await countCommands(db))
  return reclaimed === PAGE || (lost.length === PAGE && failed > 0)
}

function factsOf(row: UnnoticedCommand): NoticeFacts {
  return {
    executionId: row.execution_id,
    eventId: row.command_id,
    commandId: row.command_key,
    step: row.step_name,
    pool: row.pool,
    attempt: row.attempt,
    repetition: row.notify_count,
  }
}

/** Looked at again under the lock of its execution: the worker may have come back. */
function failLost(deps: CommandKeeperDeps, lost: LostCommand): Promise<boolean> {
  const { execution_id: executionId, command_key: commandId } = lost
  return deps.appender.appendWith(executionId, async (tx, append) => {
    await lockExecutions(tx, [executionId])
    const [row] = await findCommands(tx, [{ executionId, commandId }])
    const isHeld = row?.status === 'CLAIMED' || row?.status === 'RUNNING'
    if (!isHeld || row.attempt !== lost.attempt || row.leaseLeftSeconds > 0) return false
    const [outcome] = await append([
      { event: lostEvent(deps, lost), idGiven: false, publish: true, createExecution: false },
    ])
    return outcome?.kind === 'stored'
  })
}

function lostEvent(deps: CommandKeeperDeps, lost: LostCommand): EventRecord {
  const message = `its worker ${lost.worker_id ?? ''} was lost, at the last of ${counted(lost.attempt, 'attempt')}`
  const context: JsonObject = { command_id: lost.command_key, error: engineError('worker_lost', message) }
  return {
    executionId: lost.execution_id as ExecutionId,
    eventId: deps.ids.next() as EventId,
    eventType: 'command.failed',
    nodeId: lost.step_name,
    nodeName: lost.step_name,
    nodeType: lost.tool_kind,
    status: 'FAILED',
    context,
    result: { status: 'FAILED', context },
    meta: { command_id: lost.command_key, attempt: lost.attempt, emitter: 'command_keeper' },
    error: message,
    createdAt: wireTimeFromMillis(deps.clock.now()),
    createdAtGiven: false,
  }
}
