// What retention asks and deletes. Every statement is bounded by a range of ids or a list of executions.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { WireTime } from '../../domain/events/wireTime.js'
import type { IdRange } from '../../domain/retention/eventPartition.js'

const q = queries(
  'retention_running',
  'retention_subscriptions',
  'retention_columns',
  'retention_unpublished',
  'retention_unknown',
  'retention_contents',
  'retention_touched',
  'retention_default_executions',
  'retention_judge',
  'retention_forgotten',
  'retention_delete_events',
  'retention_eventless',
  'retention_lock_ended',
  'retention_without_events',
  'retention_delete_snapshots',
  'retention_delete_projections',
  'retention_delete_dedup',
  'retention_delete_commands',
  'retention_delete_requests',
  'retention_delete_executions',
  'purge_commands',
  'purge_runtimes',
)

export async function runningIn(
  db: Queryable,
  range: IdRange,
): Promise<{ count: string; execution_id: string | null }> {
  const [row] = await db.run<{ count: string; execution_id: string | null }>(q.retention_running, [
    range.from,
    range.to,
  ])
  return row!
}

export interface OldSubscription {
  subscription_id: string
  /** Deactivated, and long enough ago. */
  is_over: boolean
}

export function subscriptionsIn(
  db: Queryable,
  range: IdRange,
  page: { after: string; overBefore: WireTime; limit: number },
): Promise<OldSubscription[]> {
  return db.run<OldSubscription>(q.retention_subscriptions, [
    range.from,
    range.to,
    page.after,
    page.overBefore,
    page.limit,
  ])
}

/** Ready for a statement: every name is quoted by the server. */
export async function eventColumns(db: Queryable): Promise<string> {
  const [row] = await db.run<{ columns: string }>(q.retention_columns)
  return row!.columns
}

export async function unpublishedIn(db: Queryable, range: IdRange): Promise<string> {
  const [row] = await db.run<{ count: string }>(q.retention_unpublished, [range.from, range.to])
  return row!.count
}

export async function unknownIn(db: Queryable, range: IdRange): Promise<string | undefined> {
  const [row] = await db.run<{ execution_id: string }>(q.retention_unknown, [range.from, range.to])
  return row?.execution_id
}

export interface RangeContents {
  events: string
  executions: string
  has_recent: boolean
}

/** Reads the whole range: give it time. */
export async function contentsOf(
  db: Queryable,
  range: IdRange,
  without: readonly string[],
  cutoff: WireTime,
  deadlineMs: number,
): Promise<RangeContents> {
  const params = [range.from, range.to, cutoff, without]
  const [row] = await db.run<RangeContents>(q.retention_contents, params, { deadlineMs })
  return row!
}

export async function touchedSince(db: Queryable, range: IdRange, since: WireTime, cutoff: WireTime): Promise<boolean> {
  const [row] = await db.run<{ touched: boolean }>(q.retention_touched, [range.from, range.to, since, cutoff])
  return row!.touched
}

export async function executionsInDefault(db: Queryable, range: IdRange, limit: number): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.retention_default_executions, [range.from, range.to, limit])
  return rows.map((row) => row.execution_id)
}

export type KeepReason = 'running' | 'recent' | 'unpublished' | 'unknown' | 'subscription'

export interface Judged {
  execution_id: string
  /** null: it may go. */
  reason: KeepReason | null
  events: string
}

export function judgeExecutions(
  db: Queryable,
  ids: readonly string[],
  forgotten: readonly string[],
  cutoff: WireTime,
  deadlineMs: number,
): Promise<Judged[]> {
  return db.run<Judged>(q.retention_judge, [ids, cutoff, forgotten], { deadlineMs })
}

export async function notInReadModel(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.retention_forgotten, [ids])
  return rows.map((row) => row.execution_id)
}

export async function deleteDefaultEvents(db: Queryable, ids: readonly string[], limit: number): Promise<number> {
  return (await db.run(q.retention_delete_events, [ids, limit])).count
}

export async function eventlessExecutions(
  db: Queryable,
  range: IdRange,
  endedBefore: WireTime,
  limit: number,
): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.retention_eventless, [range.from, range.to, endedBefore, limit])
  return rows.map((row) => row.execution_id)
}

export async function lockEnded(tx: Tx, ids: readonly string[], untouchedSince: WireTime): Promise<string[]> {
  const rows = await tx.run<{ execution_id: string }>(q.retention_lock_ended, [ids, untouchedSince])
  return rows.map((row) => row.execution_id)
}

export async function withoutEvents(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.run<{ execution_id: string }>(q.retention_without_events, [ids])
  return rows.map((row) => row.execution_id)
}

export interface DeletedRows {
  executions: number
  snapshots: number
  projections: number
  dedupRecords: number
}

/** The read model of executions and everything that hangs on it. */
export async function deleteReadModel(tx: Tx, ids: readonly string[]): Promise<DeletedRows> {
  const snapshots = (await tx.run(q.retention_delete_snapshots, [ids])).count
  const projections = (await tx.run(q.retention_delete_projections, [ids])).count
  const dedupRecords = (await tx.run(q.retention_delete_dedup, [ids])).count
  await tx.run(q.retention_delete_commands, [ids])
  await tx.run(q.retention_delete_requests, [ids])
  const executions = (await tx.run(q.retention_delete_executions, [ids])).count
  return { executions, snapshots, projections, dedupRecords }
}

export async function purgeCommands(db: Queryable, olderThanDays: number, limit: number): Promise<number> {
  return (await db.run(q.purge_commands, [olderThanDays, limit])).count
}

export async function purgeRuntimes(db: Queryable, staleMinutes: number): Promise<number> {
  return (await db.run(q.purge_runtimes, [staleMinutes])).count
}
