// What the event log of a shard says about subscriptions: it is the truth that the read model follows.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'

const q = queries(
  'subscription_log_newest',
  'subscription_log_moved',
  'subscription_log_ids',
  'subscription_log_unadopted',
  'subscription_log_history',
  'subscription_news_note',
  'subscription_news_list',
  'subscription_news_delete',
)

export interface NewestRow {
  subscription_id: string
  event_id: string
  event_type: string
  status: string | null
  catalog_id: string
  created_at: string
  path: string | null
  meta: JsonValue
}

export function newestLifecycle(db: Queryable, ids: readonly string[]): Promise<NewestRow[]> {
  return db.run<NewestRow>(q.subscription_log_newest, [ids])
}

/** Whether somebody has written a lifecycle event after the one given. */
export async function hasMoved(db: Queryable, id: string, afterEventId: string): Promise<boolean> {
  const [row] = await db.run<{ moved: boolean }>(q.subscription_log_moved, [id, afterEventId])
  return row!.moved
}

export async function loggedIds(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ subscription_id: string }>(q.subscription_log_ids, [after, limit], {
    deadlineMs: 120_000,
  })
  return rows.map((row) => row.subscription_id)
}

export interface UnadoptedLog {
  subscription_id: string
  /** The newest of those that nobody has numbered. */
  event_id: string
}

export function unadoptedLogs(db: Queryable, after: string, limit: number): Promise<UnadoptedLog[]> {
  return db.run<UnadoptedLog>(q.subscription_log_unadopted, [after, limit])
}

export interface News {
  news_id: string
  subscription_id: string
}

/** In the transaction that made these logs grow: whoever dies after it leaves the note behind. */
export async function noteNews(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(q.subscription_news_note, [ids])
}

export function listNews(db: Queryable, limit: number): Promise<News[]> {
  return db.run<News>(q.subscription_news_list, [limit])
}

export async function deleteNews(db: Queryable, newsIds: readonly string[]): Promise<void> {
  await db.run(q.subscription_news_delete, [newsIds])
}

export interface HistoryRow {
  event_id: string
  event_type: string
  status: string | null
  catalog_id: string
  created_at: string
  meta: JsonValue
}

export interface HistoryRange {
  /** Event ids that are not in it. */
  after?: string | undefined
  before?: string | undefined
  isNewestFirst?: boolean | undefined
  limit?: number | undefined
}

const LIMIT_DEFAULT = 1_000

export function lifecycleHistory(db: Queryable, id: string, range: HistoryRange): Promise<HistoryRow[]> {
  const { after = '0', before = null, isNewestFirst = false, limit = LIMIT_DEFAULT } = range
  return db.run<HistoryRow>(q.subscription_log_history, [id, after, before, isNewestFirst, limit])
}
