// What the event log of a shard says about subscriptions: it is the truth that the read model follows.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'
import { SUBSCRIPTION_LIFECYCLE_TYPES } from '../../domain/subscriptions/subscription.js'

const q = queries(
  'subscription_log_newest',
  'subscription_log_tail',
  'subscription_log_ids',
  'subscription_log_history',
)

/** As the six may be written by others. */
const TYPES: readonly string[] = SUBSCRIPTION_LIFECYCLE_TYPES.flatMap((type) => [type, type.replace('.', '_')])

export interface NewestRow {
  subscription_id: string
  event_id: string
  event_type: string
  catalog_id: string
  created_at: string
  path: string | null
  meta: JsonValue
}

export function newestLifecycle(db: Queryable, ids: readonly string[]): Promise<NewestRow[]> {
  return db.run<NewestRow>(q.subscription_log_newest, [ids, TYPES])
}

/** The ids of lifecycle events after the one given. */
export async function lifecycleAfter(db: Queryable, id: string, afterEventId: string): Promise<string[]> {
  const rows = await db.run<{ event_id: string }>(q.subscription_log_tail, [id, afterEventId, TYPES])
  return rows.map((row) => row.event_id)
}

export async function registeredIds(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ subscription_id: string }>(q.subscription_log_ids, [after, limit], {
    deadlineMs: 120_000,
  })
  return rows.map((row) => row.subscription_id)
}

export interface HistoryRow {
  event_id: string
  event_type: string
  status: string | null
  catalog_id: string
  created_at: string
  meta: JsonValue
}

export function lifecycleHistory(db: Queryable, id: string, after: string, limit: number): Promise<HistoryRow[]> {
  return db.run<HistoryRow>(q.subscription_log_history, [id, after, limit])
}
