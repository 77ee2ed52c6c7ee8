// The outbox in SQL, as the relay sees it. Rows are written inside the transaction that writes their events.
import type { Queryable, Tx } from '../../db/db.js'
import type { Param } from '../../db/params.js'
import { type Query, queries } from '../../db/queries.js'
import { LANE_COUNT } from '../../domain/leases/lane.js'
import type { Fence } from '../leases/leaseStore.js'

const q = queries(
  'outbox_insert_adopted',
  'outbox_notify',
  'outbox_read',
  'outbox_read_lanes',
  'outbox_read_earlier',
  'outbox_sweep',
  'outbox_read_ids',
  'outbox_read_execution',
  'outbox_read_execution_with_dead',
  'outbox_settle',
  'outbox_fail',
  'outbox_unanswered',
  'outbox_orphans',
  'outbox_has_unsettled',
  'outbox_dead_executions',
)

/** Rows for events that others wrote, in this order; answers how many had none yet and came late enough. */
export async function insertAdoptedRows(
  tx: Tx,
  executionId: string,
  rows: readonly { eventId: string; payload: string }[],
): Promise<number> {
  const made = await tx.run(q.outbox_insert_adopted, [
    executionId,
    rows.map((row) => row.eventId),
    `[${rows.map((row) => row.payload).join(',')}]`,
  ])
  return made.length
}

export async function notifyRelays(db: Queryable): Promise<void> {
  await db.run(q.outbox_notify)
}

/** A row as the relay works with it. Everything but the id is null when the lane belongs to somebody else. */
export interface OutboxRow {
  outbox_id: string
  owned: boolean
  lane: number
  execution_id: string | null
  event_id: string
  attempts: number
  /** How long it must still wait, by the database clock. */
  wait_ms: number
  /** How long ago it was first sent without an answer; undefined when its fate is known. */
  unanswered_ms: number | undefined
  /** It failed, or was sent back: newer rows of its execution may be in the stream already. */
  has_failed: boolean
  subject: string | null
  payload: string
  trace: string | null
  event_type: string | null
  stream_version: string | null
}

interface ReadRow {
  /** The text of an array: id, execution, event, lane, attempts, ms to wait, ms unanswered, failed before; of a row of another relay only the id. */
  numbers: string
  subject: string | null
  payload: string
  trace: string | null
  event_type: string | null
  stream_version: string | null
}

async function readRows(db: Queryable, query: Query, values: readonly Param[]): Promise<OutboxRow[]> {
  const rows = await db.run<ReadRow>(query, values)
  return rows.map(toOutboxRow)
}

function toOutboxRow({ numbers, subject, payload, trace, event_type, stream_version }: ReadRow): OutboxRow {
  const [id, execution, event, lane, attempts, wait, unanswered, failed] = numbers.slice(1, -1).split(',')
  return {
    outbox_id: id!,
    owned: lane !== undefined,
    lane: Number(lane),
    execution_id: execution === 'NULL' ? null : execution!,
    event_id: event!,
    attempts: Number(attempts),
    wait_ms: Number(wait),
    unanswered_ms: unanswered === undefined || unanswered === 'NULL' ? undefined : Number(unanswered),
    has_failed: failed === '1',
    subject,
    payload,
    trace,
    event_type,
    stream_version,
  }
}

/** One bit per lane; the top one makes it negative, which the database's shift does not mind. */
function laneMask(lanes: readonly number[]): bigint {
  let mask = 0n
  for (const lane of lanes) mask |= 1n << BigInt(lane)
  return BigInt.asIntN(64, mask)
}

/** What the relay's reader asks the table. */
export interface OutboxReads {
  unsettled(afterId: string, visit: number, lanes: readonly number[]): Promise<OutboxRow[]>
  sweep(range: SweepRange, lanes: readonly number[]): Promise<SweptRow[]>
  earlierIds(executionIds: readonly string[], upToId: string): Promise<readonly string[]>
  rows(ids: readonly string[]): Promise<OutboxRow[]>
  execution(executionId: string, limit: number, withDead: boolean): Promise<OutboxRow[]>
  deadExecutions(lanes: readonly number[]): Promise<{ execution_id: string; lane: number }[]>
}

export function outboxReads(db: Queryable): OutboxReads {
  return {
    unsettled: (afterId, visit, lanes) => readUnsettled(db, afterId, visit, lanes),
    sweep: (range, lanes) => sweepUnsettled(db, range, lanes),
    earlierIds: (executionIds, upToId) => readEarlierIds(db, executionIds, upToId),
    rows: (ids) => readIds(db, ids),
    execution: (executionId, limit, withDead) => readExecution(db, executionId, limit, withDead),
    deadExecutions: (lanes) => listDeadExecutions(db, lanes),
  }
}

/** Rows after an id in order; of rows in lanes of others at most the last one that was visited, and only its id. */
export function readUnsettled(
  db: Queryable,
  afterId: string,
  visit: number,
  lanes: readonly number[],
): Promise<OutboxRow[]> {
  if (lanes.length === LANE_COUNT) return readRows(db, q.outbox_read, [afterId, visit])
  return readRows(db, q.outbox_read_lanes, [afterId, visit, laneMask(lanes)])
}

export interface SweptRow {
  outbox_id: string
  execution_id: string | null
  /** It need not wait any longer, by the database clock. */
  due: boolean
  owned: boolean
}

export interface SweepRange {
  after: string
  upTo: string
  /** Rows looked at, of all lanes. */
  visit: number
}

function sweepUnsettled(db: Queryable, range: SweepRange, lanes: readonly number[]): Promise<SweptRow[]> {
  return db.run<SweptRow>(q.outbox_sweep, [range.after, range.upTo, range.visit, laneMask(lanes)])
}

export async function readEarlierIds(
  db: Queryable,
  executionIds: readonly string[],
  upToId: string,
): Promise<readonly string[]> {
  const rows = await db.run<{ outbox_id: string }>(q.outbox_read_earlier, [executionIds, upToId])
  return rows.map((row) => row.outbox_id)
}

export function readIds(db: Queryable, ids: readonly string[]): Promise<OutboxRow[]> {
  return readRows(db, q.outbox_read_ids, [ids])
}

/** With `withDead` a dead row appears in its place, as one that must wait. */
export function readExecution(
  db: Queryable,
  executionId: string,
  limit: number,
  withDead: boolean,
): Promise<OutboxRow[]> {
  return readRows(db, withDead ? q.outbox_read_execution_with_dead : q.outbox_read_execution, [executionId, limit])
}

/** Answers how many were marked; the others no longer belonged to this relay. */
export async function settlePublished(
  db: Queryable,
  rows: readonly { outboxId: string; seq: number | null }[],
  fences: readonly Fence[],
): Promise<number> {
  const settled = await db.run(q.outbox_settle, [
    rows.map((row) => row.outboxId),
    rows.map((row) => row.seq),
    ...fenceColumns(fences),
  ])
  return settled.count
}

export interface FailedRow {
  outboxId: string
  status: 'FAILED' | 'DEAD'
  waitMs: number
  error: string
  /** Since it was first sent, if no answer came; undefined when it was refused. */
  unansweredMs: number | undefined
}

export interface UnansweredRow {
  outboxId: string
  unansweredMs: number
}

const ERROR_MAX = 2_000

export async function settleFailed(
  db: Queryable,
  rows: readonly FailedRow[],
  fences: readonly Fence[],
): Promise<number> {
  const settled = await db.run(q.outbox_fail, [
    rows.map((row) => row.outboxId),
    rows.map((row) => row.status),
    rows.map((row) => row.waitMs),
    rows.map((row) => row.error.slice(0, ERROR_MAX)),
    rows.map((row) => row.unansweredMs ?? null),
    ...fenceColumns(fences),
  ])
  return settled.count
}

/** Notes that these rows may be in the stream; they stay unsettled. */
export async function markUnanswered(
  db: Queryable,
  rows: readonly UnansweredRow[],
  fences: readonly Fence[],
): Promise<void> {
  await db.run(q.outbox_unanswered, [
    rows.map((row) => row.outboxId),
    rows.map((row) => row.unansweredMs),
    ...fenceColumns(fences),
  ])
}

function fenceColumns(fences: readonly Fence[]): [string, number[], string[]] {
  return [fences[0]?.owner ?? '', fences.map((fence) => fence.slot), fences.map((fence) => fence.token)]
}

/** Lane → the newest unsettled row that was there at its time; lanes without one are missing. */
export async function newestUnsettled(
  db: Queryable,
  lanes: readonly { lane: number; secondsAgo: number }[],
): Promise<Map<number, string>> {
  const rows = await db.run<{ lane: number; newest: string }>(q.outbox_orphans, [
    lanes.map(({ lane }) => lane),
    lanes.map(({ secondsAgo }) => secondsAgo),
  ])
  return new Map(rows.map(({ lane, newest }) => [lane, newest]))
}

export async function hasUnsettled(db: Queryable): Promise<boolean> {
  const [row] = await db.run<{ unsettled: boolean }>(q.outbox_has_unsettled)
  return row?.unsettled ?? false
}

async function listDeadExecutions(
  db: Queryable,
  lanes: readonly number[],
): Promise<{ execution_id: string; lane: number }[]> {
  return db.run<{ execution_id: string; lane: number }>(q.outbox_dead_executions, [lanes])
}
