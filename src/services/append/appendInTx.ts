// The one way into the event log. Inside a transaction of its shard: lock the executions in id order, tell
// repetitions from clashes, number what is new without gaps, write events, outbox rows and read model.
// All of it or nothing.
import type { Tx } from '../../db/db.js'
import { writeEnvelope, writeParts } from '../../domain/events/envelope.js'
import { type EventRecord, eventChecksum } from '../../domain/events/eventRecord.js'
import { canonicalEventType, isStartEventType } from '../../domain/events/eventType.js'
import { evolveExecution } from '../../domain/events/executionEffect.js'
import { isJsonObject } from '../../domain/json/value.js'
import { toEventRecord } from '../../stores/eventRows.js'
import {
  type CommandClaim,
  type ExistingEvent,
  findClaims,
  findExisting,
  insertEvents,
  type NumberedEvent,
} from '../../stores/eventStore.js'
import {
  createExecutions,
  type LockedExecution,
  lockExecutions,
  updateExecutions,
} from '../../stores/executionStore.js'
import { insertOutboxRows, type NewOutboxRow } from '../../stores/outboxStore.js'

export interface AppendItem {
  event: EventRecord
  /** The id came from outside, so the event may be there already. */
  idGiven: boolean
  /** Own events get an outbox row; projected ones came from the stream and must not echo. */
  publish: boolean
  /** Projected events may arrive before the start of their execution. */
  createExecution: boolean
  /** Catalog path of a start event, for the read model. */
  path?: string | undefined
  /** W3C trace context as JSON text. */
  trace?: string | undefined
}

export type AppendOutcome =
  | { kind: 'stored'; eventId: string; streamVersion: string; executionStatus: string }
  | { kind: 'duplicate'; eventId: string; streamVersion: string | undefined; executionStatus: string }
  /** The same id with other content. */
  | { kind: 'conflict'; eventId: string }
  /** The command is claimed: by this worker (`own`) or by another. */
  | { kind: 'claimed'; eventId: string; own: boolean; workerId: string | undefined }
  | { kind: 'unknownExecution'; executionId: string }

export interface AppendContext {
  subjectOf(event: EventRecord): string
}

export async function appendInTx(
  tx: Tx,
  items: readonly AppendItem[],
  context: AppendContext,
): Promise<AppendOutcome[]> {
  const created = newExecutions(items)
  if (created.length > 0) await createExecutions(tx, created)
  // Sent together: one round trip for the three.
  const ids = [...new Set(items.map(({ event }) => event.executionId))]
  const given = items.filter((item) => item.idGiven).map(({ event }) => event)
  const claims = items.flatMap(({ event, publish }) => (publish ? (claimOf(event) ?? []) : []))
  const [executions, existing, claimed] = await Promise.all([
    lockExecutions(tx, ids),
    given.length === 0 ? [] : findExisting(tx, given),
    claims.length === 0 ? [] : findClaims(tx, claims),
  ])
  const plan = decide(items, executions, existing, claimed)
  if (plan.events.length > 0) {
    await Promise.all([
      insertEvents(tx, plan.events),
      insertOutboxRows(
        tx,
        plan.published.map(({ item, row }) => outboxRow(item, row, context)),
      ),
      updateExecutions(tx, [...plan.touched]),
    ])
  }
  return plan.outcomes
}

interface Plan {
  outcomes: AppendOutcome[]
  events: NumberedEvent[]
  published: { item: AppendItem; row: NumberedEvent }[]
  touched: Set<LockedExecution>
}

/** Everything is locked and known here: a plain decision, in the order given. */
function decide(
  items: readonly AppendItem[],
  executions: Map<string, LockedExecution>,
  existing: readonly ExistingEvent[],
  claimed: readonly CommandClaim[],
): Plan {
  const plan: Plan = { outcomes: [], events: [], published: [], touched: new Set() }
  const known = new Map(existing.map((row) => [`${row.execution_id}:${row.event_id}`, fromRow(row)]))
  const holders = new Map(
    claimed.map((claim) => [`${claim.execution_id}:${claim.command_id}`, claim.worker_id ?? undefined]),
  )
  for (const item of items) plan.outcomes.push(decideOne(item, executions, known, holders, plan))
  return plan
}

interface KnownEvent {
  streamVersion: string | undefined
  saysTheSame(event: EventRecord): boolean
}

function decideOne(
  item: AppendItem,
  executions: Map<string, LockedExecution>,
  known: Map<string, KnownEvent>,
  holders: Map<string, string | undefined>,
  plan: Plan,
): AppendOutcome {
  const { event } = item
  const execution = executions.get(event.executionId)
  if (execution === undefined) return { kind: 'unknownExecution', executionId: event.executionId }
  const key = `${event.executionId}:${event.eventId}`
  const before = item.idGiven ? known.get(key) : undefined
  if (before !== undefined) {
    if (!before.saysTheSame(event)) return { kind: 'conflict', eventId: event.eventId }
    return {
      kind: 'duplicate',
      eventId: event.eventId,
      streamVersion: before.streamVersion,
      executionStatus: execution.summary.status,
    }
  }
  // What is projected has happened elsewhere; only a claim that is made here can be refused.
  const claim = item.publish ? claimOf(event) : undefined
  if (claim !== undefined) {
    const claimKey = `${claim.executionId}:${claim.commandId}`
    if (holders.has(claimKey)) {
      const workerId = holders.get(claimKey)
      return { kind: 'claimed', eventId: event.eventId, own: workerId === event.workerId, workerId }
    }
    holders.set(claimKey, event.workerId)
  }
  learnFromStart(execution, item)
  execution.streamVersion += 1n
  execution.eventCount += 1n
  execution.summary = evolveExecution(execution.summary, event)
  const streamVersion = execution.streamVersion
  const checksum = item.idGiven ? eventChecksum(event) : null
  plan.touched.add(execution)
  const row: NumberedEvent = {
    event,
    parts: writeParts(event),
    catalogId: event.catalogId ?? execution.catalogId,
    streamVersion,
    checksum,
  }
  plan.events.push(row)
  if (item.publish) plan.published.push({ item, row })
  // An id that was minted for this event cannot come again in the same call.
  if (checksum !== null) {
    known.set(key, {
      streamVersion: streamVersion.toString(),
      saysTheSame: (other) => eventChecksum(other) === checksum,
    })
  }
  return {
    kind: 'stored',
    eventId: event.eventId,
    streamVersion: streamVersion.toString(),
    executionStatus: execution.summary.status,
  }
}

/** A projected event may have made the execution before its start arrived; the start knows where it came from. */
function learnFromStart(execution: LockedExecution, { event, path }: AppendItem): void {
  if (!isStartEventType(event.eventType)) return
  if (execution.catalogId === '0' && event.catalogId !== undefined) execution.catalogId = event.catalogId
  execution.path ??= path
  execution.parentExecutionId ??= event.parentExecutionId
}

function fromRow(row: ExistingEvent): KnownEvent {
  return {
    streamVersion: row.stream_version ?? undefined,
    saysTheSame: (event) => {
      if (row.envelope_checksum !== null) return row.envelope_checksum === eventChecksum(event)
      // Written by somebody else: compare what the columns say.
      return eventChecksum({ ...toEventRecord(row), createdAtGiven: event.createdAtGiven }) === eventChecksum(event)
    },
  }
}

function newExecutions(items: readonly AppendItem[]) {
  return items
    .filter((item) => item.createExecution || isStartEventType(item.event.eventType))
    .map(({ event, path }) => ({
      executionId: event.executionId,
      catalogId: event.catalogId ?? '0',
      path: path ?? null,
      parentExecutionId: event.parentExecutionId ?? null,
      tenantId: event.tenantId,
      organizationId: event.organizationId,
    }))
}

function claimOf(event: EventRecord): { executionId: string; commandId: string } | undefined {
  if (canonicalEventType(event.eventType) !== 'command.claimed' || !isJsonObject(event.meta)) return undefined
  const commandId = event.meta['command_id']
  if (typeof commandId !== 'string' && typeof commandId !== 'number' && typeof commandId !== 'bigint') return undefined
  return { executionId: event.executionId, commandId: String(commandId) }
}

function outboxRow(item: AppendItem, row: NumberedEvent, context: AppendContext): NewOutboxRow {
  const { event } = item
  return {
    executionId: event.executionId,
    eventId: event.eventId,
    subject: context.subjectOf(event),
    payload: writeEnvelope(event, row.streamVersion.toString(), row.catalogId, row.parts),
    trace: item.trace ?? null,
  }
}
