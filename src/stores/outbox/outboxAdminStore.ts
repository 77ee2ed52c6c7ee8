// The outbox as its operator sees it: counts, lists, retries, removal. Nothing here grows with the history of
// published rows: every question follows an index and has a bound.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'

const q = queries(
  'outbox_backlog',
  'outbox_dead_count',
  'outbox_oldest',
  'outbox_published',
  'outbox_rate',
  'outbox_relays',
  'outbox_list_unsettled',
  'outbox_list_published',
  'outbox_list_execution',
  'outbox_list_dead',
  'outbox_show',
  'outbox_retry',
  'outbox_redrive',
  'outbox_dead_drop',
  'outbox_dead_groups',
  'outbox_purge',
  'outbox_audit_page',
  'outbox_republish',
  'outbox_unpublished',
  'outbox_of_events',
)

export interface Backlog {
  pending_ready: number
  pending_waiting: number
  failed_ready: number
  failed_waiting: number
  in_flight_live: number
  in_flight_expired: number
  /** There are more than were looked at. */
  capped: boolean
}

const BACKLOG_MAX = 1_000_000
const COUNTED_MAX = 10_000

export async function readBacklog(db: Queryable, rowsMax = BACKLOG_MAX): Promise<Backlog> {
  const [row] = await db.run<Backlog>(q.outbox_backlog, [rowsMax])
  return row!
}

export async function countDead(db: Queryable, rowsMax = BACKLOG_MAX): Promise<number> {
  const [row] = await db.run<{ dead: number }>(q.outbox_dead_count, [rowsMax])
  return row?.dead ?? 0
}

/** Undefined when everything is published. */
export async function readOldestAge(db: Queryable, deadlineMs?: number): Promise<number | undefined> {
  const [row] = await db.run<{ age_seconds: number }>(
    q.outbox_oldest,
    [],
    deadlineMs === undefined ? {} : { deadlineMs },
  )
  return row?.age_seconds
}

/** Exact for a few, the server's estimate for many. */
export async function countPublished(db: Queryable): Promise<{ rows: number; isEstimate: boolean }> {
  const [row] = await db.run<{ counted: string; about: string }>(q.outbox_published, [COUNTED_MAX])
  const isEstimate = Number(row?.counted) >= COUNTED_MAX
  return { rows: Number(isEstimate ? row?.about : row?.counted), isEstimate }
}

export async function countPublishedLastMinute(db: Queryable): Promise<number> {
  const [row] = await db.run<{ published: number }>(q.outbox_rate, [BACKLOG_MAX * 5])
  return row?.published ?? 0
}

export interface RelayRow {
  relay_id: string
  lanes: number
  published: string
  started_at: string
  alive: boolean
}

export function listRelays(db: Queryable): Promise<RelayRow[]> {
  return db.run<RelayRow>(q.outbox_relays)
}

export type OutboxStatus = 'PENDING' | 'FAILED' | 'IN_FLIGHT' | 'PUBLISHED' | 'DEAD'

export interface ListedRow {
  outbox_id: string
  execution_id: string | null
  event_id: string
  subject: string | null
  status: OutboxStatus
  attempts: number
  last_error: string | null
  stream_seq: string | null
  available_at: string
  created_at: string
  published_at: string | null
  updated_at: string
  lease_owner: string | null
  lease_until: string | null
  bytes: number
}

export interface ListFilter {
  /** Without one: what is not settled; with an execution: everything of it. */
  status?: OutboxStatus | undefined
  executionId?: string | undefined
  after: string
  limit: number
}

export function listRows(db: Queryable, filter: ListFilter): Promise<ListedRow[]> {
  const { status, executionId, after, limit } = filter
  if (executionId !== undefined)
    return db.run<ListedRow>(q.outbox_list_execution, [executionId, status ?? null, after, limit])
  if (status === 'DEAD') return listDeadRows(db, { after, limit })
  if (status === 'PUBLISHED') return db.run<ListedRow>(q.outbox_list_published, [after, limit])
  return db.run<ListedRow>(q.outbox_list_unsettled, [status ?? null, after, limit])
}

export interface DeadFilter {
  executionId?: string | undefined
  /** Part of the reason, whatever the case. */
  reason?: string | undefined
  /** Dead since this wire time. */
  since?: string | undefined
  ids?: readonly string[] | undefined
}

export function listDeadRows(
  db: Queryable,
  filter: DeadFilter & { after: string; limit: number },
): Promise<ListedRow[]> {
  return db.run<ListedRow>(q.outbox_list_dead, [
    filter.after,
    filter.limit,
    filter.executionId ?? null,
    filter.reason ?? null,
    filter.since ?? null,
    filter.ids ?? null,
  ])
}

export interface DeadGroup {
  reason: string
  count: number
  newest_at: string
  /** The newest of them. */
  outbox_id: string
  execution_id: string | null
}

export function listDeadGroups(
  db: Queryable,
  { scannedMax, limit }: { scannedMax: number; limit: number },
): Promise<DeadGroup[]> {
  return db.run<DeadGroup>(q.outbox_dead_groups, [scannedMax, limit])
}

export interface ShownRow extends ListedRow {
  payload: JsonValue
  payload_codec: string
  trace: JsonValue
  locked_at: string | null
  lease_token: string | null
  lane: number
}

export async function getRow(db: Queryable, outboxId: string): Promise<ShownRow | undefined> {
  const [row] = await db.run<ShownRow>(q.outbox_show, [outboxId])
  return row
}

/** Answers the ids of this page. */
export async function retryRows(
  db: Queryable,
  filter: { executionId?: string | undefined; ids?: readonly string[] | undefined; after: string; limit: number },
): Promise<string[]> {
  const rows = await db.run<{ outbox_id: string }>(q.outbox_retry, [
    filter.after,
    filter.limit,
    filter.executionId ?? null,
    filter.ids ?? null,
  ])
  return rows.map((row) => row.outbox_id)
}

export async function dropDeadRows(db: Queryable, ids: readonly string[]): Promise<number> {
  return (await db.run(q.outbox_dead_drop, [ids])).count
}

export async function redriveRows(db: Queryable, ids: readonly string[]): Promise<number> {
  return (await db.run(q.outbox_redrive, [ids])).count
}

export async function purgeRows(db: Queryable, olderThanSeconds: number, limit: number): Promise<number> {
  return (await db.run(q.outbox_purge, [olderThanSeconds, limit])).count
}

export interface AuditRow {
  outbox_id: string
  execution_id: string | null
  event_id: string
  stream_seq: string | null
  published_at: string
}

export function pageOfPublished(
  db: Queryable,
  after: { publishedAt: string; outboxId: string },
  limit: number,
): Promise<AuditRow[]> {
  return db.run<AuditRow>(q.outbox_audit_page, [after.publishedAt, after.outboxId, limit])
}

/** Answers the ids that were sent back. */
export async function republishRows(
  db: Queryable,
  rows: readonly { outboxId: string; seq: string; notBeforeMs: number }[],
): Promise<string[]> {
  const sent = await db.run<{ outbox_id: string }>(q.outbox_republish, [
    rows.map((row) => row.outboxId),
    rows.map((row) => row.seq),
    rows.map((row) => row.notBeforeMs),
  ])
  return sent.map((row) => row.outbox_id)
}

export async function countUnpublished(db: Queryable, ids: readonly string[]): Promise<number> {
  const [row] = await db.run<{ waiting: number }>(q.outbox_unpublished, [ids])
  return row?.waiting ?? 0
}

export interface RowOfEvent {
  execution_id: string
  event_id: string
  status: string
  /** Null: whoever published it did not say where the stream put it. */
  stream_seq: string | null
  /** `http` of a row that was published through our route. */
  lease_owner: string | null
}

export function rowsOfEvents(
  db: Queryable,
  events: readonly { executionId: string; eventId: string }[],
): Promise<RowOfEvent[]> {
  return db.run<RowOfEvent>(q.outbox_of_events, [
    events.map(({ executionId }) => executionId),
    events.map(({ eventId }) => eventId),
  ])
}
