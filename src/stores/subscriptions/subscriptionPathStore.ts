// The rows of subscriptions by path, as they are made from the logs; in the cluster database.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { ShownState } from '../../domain/subscriptions/subscription.js'
import { eventValues, type LoggedState } from './subscriptionStore.js'

const q = queries(
  'subscription_paths',
  'subscription_missing',
  'subscription_unregistered',
  'subscription_path_hold',
  'subscription_yield',
  'subscription_rebuild',
)

/** By id: as the row has it, as the log says, as the catalog has the entry. */
export async function pathsOf(
  db: Queryable,
  logs: readonly { id: string; path: string | null; catalogId: string }[],
): Promise<Map<string, string>> {
  const rows = await db.run<{ subscription_id: string; path: string }>(q.subscription_paths, [
    logs.map(({ id }) => id),
    logs.map(({ path }) => path),
    logs.map(({ catalogId }) => catalogId),
  ])
  return new Map(rows.map((row) => [row.subscription_id, row.path]))
}

export async function missingRows(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.run<{ subscription_id: string }>(q.subscription_missing, [ids])
  return rows.map((row) => row.subscription_id)
}

/** Newest entries of push subscriptions whose paths have no row, by path. */
export function listUnregistered(db: Queryable, limit: number): Promise<{ catalog_id: string; path: string }[]> {
  return db.run(q.subscription_unregistered, [limit])
}

export interface PathRow {
  subscription_id: string
  state: ShownState
  live: boolean
  /** An intent is open. */
  is_changing: boolean
}

export function holdPath(tx: Tx, path: string): Promise<PathRow[]> {
  return tx.run<PathRow>(q.subscription_path_hold, [path])
}

/** Those of the ids that held their path until now. */
export async function yieldPath(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.run<{ subscription_id: string }>(q.subscription_yield, [ids])
  return rows.map((row) => row.subscription_id)
}

export async function rebuildRow(db: Queryable, path: string, logged: LoggedState, live: boolean): Promise<boolean> {
  const { id, catalogId, state } = logged
  const rows = await db.run(q.subscription_rebuild, [id, path, catalogId, state, ...eventValues(logged), live])
  return rows.length === 1
}
