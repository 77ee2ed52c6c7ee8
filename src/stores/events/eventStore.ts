// The event log in SQL. Events are appended inside a transaction, and only by services/events, so that no event is
// stored without its outbox row and its version.
import type { Queryable, Tx } from '../../db/db.js'
import type { Scalar } from '../../db/params.js'
import { queries } from '../../db/queries.js'
import type { WrittenParts } from '../../domain/events/envelope.js'
import type { OwnedEvent } from '../../domain/events/eventRecord.js'
import { spellingsOf } from '../../domain/events/vocabulary.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { EventRow } from './eventRows.js'

const q = queries(
  'event_existing',
  'event_claims',
  'event_highest',
  'event_move',
  'event_insert',
  'event_publish',
  'event_unadopted',
  'event_unadopted_executions',
  'event_number',
  'event_latest',
  'event_count',
  'event_results',
  'event_start',
  'event_step_ranks',
  'event_last_of',
  'event_answer',
)

export interface ExistingEvent extends EventRow {
  envelope_checksum: string | null
  /** Its parts were not read. */
  is_large: boolean
}

export function findExisting(
  db: Queryable,
  keys: readonly { executionId: string; eventId: string }[],
): Promise<ExistingEvent[]> {
  return db.run<ExistingEvent>(q.event_existing, [keys.map((key) => key.executionId), keys.map((key) => key.eventId)])
}

export interface CommandClaim {
  execution_id: string
  command_id: string
  event_id: string
  worker_id: string | null
}

export function findClaims(
  db: Queryable,
  keys: readonly { executionId: string; commandId: string }[],
): Promise<CommandClaim[]> {
  return db.run<CommandClaim>(q.event_claims, [keys.map((key) => key.executionId), keys.map((key) => key.commandId)])
}

/** The highest event id of each execution that has events, whoever wrote them. */
export async function highestEventIds(db: Queryable, executionIds: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await db.run<{ execution_id: string; event_id: string }>(q.event_highest, [executionIds])
  return new Map(rows.map((row) => [row.execution_id, BigInt(row.event_id)]))
}

/** Gives the stored events of executions the owner that was learned for them. */
export async function moveEvents(
  tx: Tx,
  list: readonly { executionId: string; tenantId: string; organizationId: string }[],
): Promise<void> {
  await tx.run(q.event_move, [
    list.map((row) => row.executionId),
    list.map((row) => row.tenantId),
    list.map((row) => row.organizationId),
  ])
}

export interface NumberedEvent {
  event: OwnedEvent
  parts: WrittenParts
  catalogId: string
  streamVersion: bigint
  /** Kept for events whose id came from outside: it tells a repetition from a clash. */
  checksum: string | null
  /** Secrets that were taken out of it. */
  sealed: string | null
}

/** An event and the message that tells of it. */
export interface PublishedEvent extends NumberedEvent {
  subject: string
  /** The envelope as JSON text. */
  payload: string
  /** W3C trace context as JSON text, if the request carried one. */
  trace: string | null
}

/** With their outbox rows. */
export async function publishEvents(tx: Tx, events: readonly PublishedEvent[]): Promise<void> {
  await tx.run(q.event_publish, [
    ...columnsOf(events),
    jsonArray(events, ({ payload }) => payload),
    events.map(({ subject }) => subject),
    columnOf(events, ({ trace }) => trace),
  ])
}

/** Without outbox rows. */
export async function insertEvents(tx: Tx, events: readonly NumberedEvent[]): Promise<void> {
  const columns = columnsOf(events)
  const documents = [
    jsonArray(events, ({ parts }) => parts.context),
    jsonArray(events, ({ parts }) => parts.result),
    jsonArray(events, ({ parts }) => parts.meta),
  ]
  await tx.run(q.event_insert, [...columns, ...documents])
}

/** Most columns of most batches are empty, and unnest fills up a shorter array with nulls. */
function columnOf<Row>(rows: readonly Row[], read: (row: Row) => Scalar | undefined): Scalar[] {
  const values = rows.map((row) => read(row) ?? null)
  return values.every((value) => value === null) ? [] : values
}

/** One JSON array per JSON column: it needs no escaping, and the server reads it once. */
function jsonArray<Row>(rows: readonly Row[], read: (row: Row) => string | undefined): string {
  return `[${rows.map((row) => read(row) ?? 'null').join(',')}]`
}

function columnsOf(events: readonly NumberedEvent[]): Scalar[][] {
  const column = (read: (row: NumberedEvent) => Scalar | undefined) => columnOf(events, read)
  return [
    column(({ event }) => event.executionId),
    column(({ event }) => event.eventId),
    column((row) => row.catalogId),
    column(({ event }) => event.parentEventId),
    column(({ event }) => event.parentExecutionId),
    column(({ event }) => event.prevEventId),
    column(({ event }) => event.createdAt),
    column(({ event }) => event.eventType),
    column(({ event }) => event.nodeId),
    column(({ event }) => event.nodeName),
    column(({ event }) => event.nodeType),
    column(({ event }) => event.status),
    column(({ event }) => event.workerId),
    column(({ event }) => event.duration),
    column(({ event }) => event.error),
    column(({ event }) => event.stackTrace),
    column(({ event }) => event.tenantId),
    column(({ event }) => event.organizationId),
    column((row) => row.streamVersion),
    column((row) => row.checksum),
    column((row) => row.sealed),
  ]
}

export function listUnadopted(db: Queryable, executionId: string, limit: number): Promise<EventRow[]> {
  return db.run<EventRow>(q.event_unadopted, [executionId, limit])
}

/** In id order, after the one given. */
export async function listUnadoptedExecutions(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.event_unadopted_executions, [after, limit])
  return rows.map((row) => row.execution_id)
}

/** Answers how many rows were still without a number. */
export async function numberEvents(
  tx: Tx,
  executionId: string,
  numbers: readonly { eventId: string; version: bigint }[],
): Promise<number> {
  const rows = await tx.run(q.event_number, [
    executionId,
    numbers.map((row) => row.eventId),
    numbers.map((row) => row.version),
  ])
  return rows.count
}

export interface LatestEvent {
  event_id: string
  event_type: string | null
  node_id: string | null
  node_name: string | null
  status: string | null
  created_at: string
  catalog_id: string | null
  parent_execution_id: string | null
  parent_event_id: string | null
  duration: number | null
  context: JsonValue
  result: JsonValue
  error: string | null
  /** Columns that are too large for the page: null although they are not. */
  left_out: ('context' | 'result' | 'error')[]
}

/** Bytes of one column and of all of them on a page. */
export interface PageBounds {
  columnBytes: number
  pageBytes: number
}

/** Of the newest events. */
export interface EventPage {
  limit: number
  offset: number
  sinceEventId: string | null
  eventType: string | null
}

export function readLatest(
  db: Queryable,
  executionId: string,
  { limit, offset, sinceEventId, eventType }: EventPage,
  { columnBytes, pageBytes }: PageBounds,
): Promise<LatestEvent[]> {
  const values = [executionId, limit, columnBytes, pageBytes, offset, sinceEventId, eventType]
  return db.run<LatestEvent>(q.event_latest, values)
}

export async function countEvents(
  db: Queryable,
  executionId: string,
  { sinceEventId, eventType }: EventPage,
): Promise<number> {
  const [row] = await db.run<{ count: number }>(q.event_count, [executionId, sinceEventId, eventType])
  return row!.count
}

export interface EventResult {
  execution_id: string
  event_id: string
  result: JsonValue
  /** Too large: null although it is not. */
  left_out: boolean
}

/** Of one event of each of these executions. */
export function readResults(
  db: Queryable,
  events: readonly { executionId: string; eventId: string }[],
  columnBytes: number,
): Promise<EventResult[]> {
  return db.run<EventResult>(q.event_results, [
    events.map(({ executionId }) => executionId),
    events.map(({ eventId }) => eventId),
    columnBytes,
  ])
}

export interface StartWorkload {
  /** JSON text. */
  workload: string | null
  left_out: boolean
}

export async function readStartWorkload(
  db: Queryable,
  executionId: string,
  eventId: string,
  columnBytes: number,
): Promise<StartWorkload | undefined> {
  const [row] = await db.run<StartWorkload>(q.event_start, [executionId, eventId, columnBytes])
  return row
}

export interface StepRank {
  /** Null for events of no step. */
  node_name: string | null
  /** 5 ended, 4 in a failure, 3 a command completed, 2 failed, 1 running, 0 not taken. Null: this row tells of variables, or which event has a version. */
  rank: number | null
  is_numbered: boolean
  stream_version: string | null
  mark: string | null
  event_id: string | null
  /** `{set, removed}` as JSON text. */
  variables: string | null
}

export const COMPLETED_TYPES = spellingsOf(({ rank }) => rank === 3)
export const FAILED_TYPES = spellingsOf(({ rank }) => rank === 2)
export const SKIPPED_TYPES = spellingsOf(({ rank }) => rank === 0)

export function readStepRanks(db: Queryable, executionId: string, afterVersion: string): Promise<StepRank[]> {
  const types = [COMPLETED_TYPES, FAILED_TYPES, SKIPPED_TYPES]
  return db.run<StepRank>(q.event_step_ranks, [executionId, afterVersion, ...types])
}

export interface LastOf {
  event_id: string
  /** `{context, result, meta}` as JSON text. */
  said: string
}

/** The newest event of some type and status; of any step when none is named. */
export async function readLastOf(
  db: Queryable,
  executionId: string,
  which: { types: readonly string[]; statuses: readonly string[]; step: string | undefined },
): Promise<LastOf | undefined> {
  const [row] = await db.run<LastOf>(q.event_last_of, [executionId, which.types, which.statuses, which.step ?? null])
  return row
}

export async function readResultOf(db: Queryable, executionId: string, eventId: string): Promise<string | undefined> {
  const [row] = await db.run<{ result: string | null }>(q.event_answer, [executionId, eventId])
  return row?.result ?? undefined
}
