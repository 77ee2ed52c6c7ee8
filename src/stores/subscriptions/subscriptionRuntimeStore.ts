// Who drives which subscription. Leases are judged by the clock of the cluster database.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { ShownState } from '../../domain/subscriptions/subscription.js'

const q = queries(
  'subscription_runtime_beat',
  'subscription_runtime_leave',
  'subscription_renew',
  'subscription_take',
  'subscription_release',
)

export interface HeldSubscription {
  subscription_id: string
  path: string
  catalog_id: string
  state: ShownState
  /** Whether the id holds its path. */
  live: boolean
  /** Somebody else's runtime delivers it. */
  external: boolean
  epoch: string
  /** The newest lifecycle event that the row knows of; the epoch stands on it. */
  last_event_id: string | null
}

export async function beatRuntime(
  db: Queryable,
  runtimeId: string,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<{ runtimes: number; active: number }> {
  const [row] = await db.run<{ runtimes: number; active: number }>(
    q.subscription_runtime_beat,
    [runtimeId, leaseSeconds],
    { deadlineMs },
  )
  return row ?? { runtimes: 1, active: 0 }
}

export async function leaveRuntime(db: Queryable, runtimeId: string, deadlineMs: number): Promise<void> {
  await db.run(q.subscription_runtime_leave, [runtimeId], { deadlineMs })
}

export function renewSubscriptions(
  db: Queryable,
  runtimeId: string,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<HeldSubscription[]> {
  return db.run<HeldSubscription>(q.subscription_renew, [runtimeId, leaseSeconds], { deadlineMs })
}

export function takeSubscriptions(
  db: Queryable,
  runtimeId: string,
  limit: number,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<HeldSubscription[]> {
  return db.run<HeldSubscription>(q.subscription_take, [runtimeId, limit, leaseSeconds], { deadlineMs })
}

export async function releaseSubscriptions(
  db: Queryable,
  runtimeId: string,
  ids: readonly string[],
  deadlineMs: number,
): Promise<void> {
  await db.run(q.subscription_release, [runtimeId, ids], { deadlineMs })
}
