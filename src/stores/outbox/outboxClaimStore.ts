// Rows of the outbox as outside publishers see them: claimed one by one under a lease with a token.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { ClaimCandidate } from '../../domain/outbox/claim.js'
import type { EventRow } from '../events/eventRows.js'

const q = queries(
  'outbox_claim_lanes',
  'outbox_claim_retire',
  'outbox_claim_due',
  'outbox_claim_heads',
  'outbox_claim_runs',
  'outbox_claim',
  'outbox_mark_published',
  'outbox_mark_failed',
  'outbox_pending',
  'outbox_payload',
  'outbox_event',
)

export interface LockedLane {
  lane: number
  /** Its relay let the lease run out. */
  late: boolean
}

/** Locks lanes with something due that neither a live relay nor another claim has, for the rest of the transaction. */
export function lockDueLanes(tx: Tx, limit: number, held: readonly number[]): Promise<LockedLane[]> {
  return tx.run<LockedLane>(q.outbox_claim_lanes, [limit, held])
}

/** A relay that was late cannot renew these any more; it has to take them again and read anew. */
export async function retireLateRelays(tx: Tx, lanes: readonly number[]): Promise<void> {
  await tx.run(q.outbox_claim_retire, [lanes])
}

/** How many rows to look at from the first of an execution on, or one row that has no execution. */
export type DueRows =
  | { execution_id: string; outbox_id: null; rows: number }
  | { execution_id: null; outbox_id: string }

/** What has been due longest, whether or not something of its execution is ahead. */
export function listDue(tx: Tx, lanes: readonly number[], rows: number): Promise<DueRows[]> {
  return tx.run<DueRows>(q.outbox_claim_due, [lanes, rows])
}

export interface HeadSearch {
  /** Begin behind this execution; undefined: somewhere. */
  after: string | undefined
  lanes: readonly number[]
  limit: number
  visits: number
  holdBehindDead: boolean
}

/** Executions whose first row is due. Costs by executions visited, not by their rows. */
export async function findDueHeads(tx: Tx, search: HeadSearch): Promise<string[]> {
  const { after, lanes, limit, visits, holdBehindDead } = search
  const rows = await tx.run<{ execution_id: string }>(q.outbox_claim_heads, [
    after ?? null,
    lanes,
    limit,
    visits,
    holdBehindDead,
  ])
  return rows.map((row) => row.execution_id)
}

export function readRuns(tx: Tx, due: readonly DueRows[], holdBehindDead: boolean): Promise<ClaimCandidate[]> {
  const runs = due.filter((one) => one.execution_id !== null)
  return tx.run<ClaimCandidate>(q.outbox_claim_runs, [
    runs.map((run) => run.execution_id),
    runs.map((run) => run.rows),
    due.map((one) => one.outbox_id).filter((id) => id !== null),
    holdBehindDead,
  ])
}

export interface ClaimedRow {
  outbox_id: string
  event_id: string
  execution_id: string | null
  subject: string | null
  payload: JsonValue
  payload_codec: string
  attempts: number
  lease_token: string
}

export function claimRows(
  tx: Tx,
  rows: readonly { outbox_id: string; execution_id: string | null }[],
  leaseSeconds: number,
  shard: number,
): Promise<ClaimedRow[]> {
  return tx.run<ClaimedRow>(q.outbox_claim, [
    rows.map((row) => row.outbox_id),
    rows.map((row) => row.execution_id),
    leaseSeconds,
    shard,
  ])
}

export interface PublishedMark {
  outboxId: string
  token: string | null
  seq: string | null
}

/** Answers the ids that were marked. */
export async function markPublished(db: Queryable, marks: readonly PublishedMark[]): Promise<string[]> {
  const rows = await db.run<{ outbox_id: string }>(q.outbox_mark_published, [
    marks.map((mark) => mark.outboxId),
    marks.map((mark) => mark.token),
    marks.map((mark) => mark.seq),
  ])
  return rows.map((row) => row.outbox_id)
}

export interface FailedMark {
  outboxId: string
  token: string | null
  error: string
  maxDelaySeconds: number
  attemptsMax: number
}

/** Undefined when the row was not the caller's to mark. */
export async function markFailed(
  db: Queryable,
  mark: FailedMark,
): Promise<{ status: 'FAILED' | 'DEAD'; waitSeconds: number } | undefined> {
  const [row] = await db.run<{ status: 'FAILED' | 'DEAD'; wait_seconds: number }>(q.outbox_mark_failed, [
    mark.outboxId,
    mark.token,
    mark.maxDelaySeconds,
    mark.attemptsMax,
    mark.error,
  ])
  return row === undefined ? undefined : { status: row.status, waitSeconds: row.wait_seconds }
}

export async function countPending(db: Queryable, upTo: number): Promise<number> {
  const [row] = await db.run<{ pending: number }>(q.outbox_pending, [upTo])
  return row?.pending ?? 0
}

/** The text of the message; undefined when its row is gone. */
export async function readPayload(
  db: Queryable,
  executionId: string | null,
  eventId: string,
): Promise<string | undefined> {
  const [row] = await db.run<{ payload: string }>(q.outbox_payload, [executionId, eventId])
  return row?.payload
}

export async function readEvent(db: Queryable, executionId: string, eventId: string): Promise<EventRow | undefined> {
  const [row] = await db.run<EventRow>(q.outbox_event, [executionId, eventId])
  return row
}
