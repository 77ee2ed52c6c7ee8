// Gives commands to workers: the claim is an event like any other, appended under the lock of its execution, so that
// two workers can never both have it. What a worker needs is read from the command.issued event, secrets included.
import type { Databases } from '../../db/databases.js'
import { LEASE_SECONDS } from '../../domain/commands/commandRules.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import {
  type WireTime,
  wireTimeFromMillis,
  wireTimeFromPostgres,
  wireTimeToMicros,
} from '../../domain/events/wireTime.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { CpError, isOwnTrouble } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { isolateRefused } from '../../runtime/isolateRefused.js'
import type { Appender } from '../events/appender.js'
import type { AppendItem, AppendOutcome, Unclaimable } from '../events/appendInTx.js'
import type { Ids } from '../ids/ids.js'
import { type Opener, openEventsOf, readEventsOf } from '../secrets/sealedValues.js'
import type { CommandNames, FreshCommands } from './freshCommands.js'

export interface HandOutDeps {
  databases: Databases
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
  keyring: Keyring
  onOpened?: (by: Opener, events: number) => void
  /** A worker has got a command; the seconds are those since it was issued. */
  onClaimed?: (attempt: number, waitedSeconds: number) => void
  onError(error: CpError): void
  /** What was issued here a moment ago need not be read. */
  fresh?: Pick<FreshCommands, 'find' | 'forget'> | undefined
}

/** A command as its worker gets it. */
export interface HeldCommand {
  executionId: string
  /** Of its command.issued; the number in the routes. */
  eventId: string
  /** The text by which workers name it in their answers. */
  commandId: string
  step: string
  kind: string
  workerId: string
  attempt: number
  leaseToken: number
  leaseSeconds: number
  leaseUntil: WireTime
  /** `{tool_config, args, render_context}`. */
  context: JsonObject
  meta: JsonObject
}

export interface Wanted extends CommandNames {
  workerId: string
  leaseSeconds?: number | undefined
}

/** All of one shard. Per command: held now, or why it is not to be had; undefined when it could not be read. */
export async function handOut(
  deps: HandOutDeps,
  wanted: readonly Wanted[],
): Promise<(HeldCommand | Unclaimable | undefined)[]> {
  const issued = await issuedOf(deps, wanted)
  const readable = wanted.filter(({ eventId }) => issued.has(eventId))
  const outcomes = await deps.appender.append(readable.map((one) => claimItem(deps, one)))
  for (const { eventId } of readable) deps.fresh?.forget(eventId)
  const byId = new Map(
    readable.map((one, index) => [one.eventId, held(deps, one, issued.get(one.eventId)!, outcomes[index]!)]),
  )
  return wanted.map(({ eventId }) => byId.get(eventId))
}

async function issuedOf(deps: HandOutDeps, wanted: readonly Wanted[]): Promise<Map<string, EventRecord>> {
  const issued = new Map<string, EventRecord>()
  for (const { eventId } of wanted) {
    const known = deps.fresh?.find(eventId)
    if (known !== undefined) issued.set(eventId, known.issued)
  }
  const unknown = wanted.filter(({ eventId }) => !issued.has(eventId))
  if (unknown.length > 0) for (const [id, event] of await readIssued(deps, unknown)) issued.set(id, event)
  return issued
}

/**
 * Read before it is claimed: what cannot be opened here, because a key is not at hand, is left to somebody who can, and
 * keeps nobody from the rest.
 */
export async function readIssued(
  deps: HandOutDeps,
  wanted: readonly Pick<Wanted, 'executionId' | 'eventId'>[],
  secrets: 'open' | 'sealed' = 'open',
): Promise<Map<string, EventRecord>> {
  const answers = await isolateRefused(wanted, async (some) => {
    const db = deps.databases.of(some[0]!.executionId)
    const events = secrets === 'open' ? await openEventsOf(deps, 'claim', db, some) : await readEventsOf(db, some)
    const byId = new Map(events.map((event) => [event.eventId as string, event]))
    return some.map(({ eventId }) => byId.get(eventId))
  })
  const issued = new Map<string, EventRecord>()
  for (const [index, answer] of answers.entries()) {
    if (answer instanceof CpError) {
      if (isOwnTrouble(answer)) throw answer
      deps.onError(answer)
    } else if (answer !== undefined) issued.set(wanted[index]!.eventId, answer)
  }
  return issued
}

export function claimItem(
  deps: Pick<HandOutDeps, 'ids' | 'clock'>,
  { executionId, commandId, step, kind, workerId, leaseSeconds }: Wanted,
): AppendItem {
  const context: JsonObject = { command_id: commandId, worker_id: workerId }
  const event: EventRecord = {
    executionId: executionId as ExecutionId,
    eventId: deps.ids.next() as EventId,
    eventType: 'command.claimed',
    nodeId: step,
    nodeName: step,
    nodeType: kind,
    status: 'RUNNING',
    workerId,
    context,
    result: { status: 'RUNNING', context },
    meta: { command_id: commandId, worker_id: workerId, emitter: 'control_plane' },
    createdAt: wireTimeFromMillis(deps.clock.now()),
    createdAtGiven: false,
  }
  return { event, idGiven: false, publish: true, createExecution: false, leaseSeconds: leaseSeconds ?? LEASE_SECONDS }
}

function held(
  deps: HandOutDeps,
  wanted: Wanted,
  issued: EventRecord,
  outcome: AppendOutcome,
): HeldCommand | Unclaimable | undefined {
  if (outcome.kind === 'unclaimable') return outcome
  const claim = outcome.kind === 'stored' || outcome.kind === 'claimed' ? outcome.claim : undefined
  return claim?.leaseUntil === undefined
    ? undefined
    : heldCommand(deps, wanted, issued, { ...claim, leaseUntil: claim.leaseUntil })
}

export function heldCommand(
  { clock, onClaimed }: HandOutDeps,
  wanted: Wanted,
  issued: EventRecord,
  claim: { attempt: number; leaseToken: number; leaseSeconds: number; leaseUntil: string },
): HeldCommand {
  const { attempt, leaseToken, leaseSeconds } = claim
  const leaseUntil = wireTimeFromPostgres(claim.leaseUntil, 'lease_until')
  onClaimed?.(attempt, Math.max(0, clock.now() - Number(wireTimeToMicros(issued.createdAt) / 1000n)) / 1000)
  return {
    ...wanted,
    attempt,
    leaseToken,
    leaseSeconds,
    leaseUntil,
    context: isJsonObject(issued.context) ? issued.context : {},
    meta: { ...metaAt(issued, attempt), lease_token: leaseToken, lease_until: leaseUntil },
  }
}

/** Some workers read and echo `attempts`. */
export function metaAt({ meta }: EventRecord, attempt: number): JsonObject {
  return { ...(isJsonObject(meta) ? meta : {}), attempt, attempts: attempt }
}
