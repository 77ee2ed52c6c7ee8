// Who drives which subscription. Leases are judged by the clock of the cluster database.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { ShownState } from '../../domain/subscriptions/subscription.js'

const q = queries('subscription_count_drivable', 'subscription_renew', 'subscription_take', 'subscription_release')

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

/** How many subscriptions there are for daemons to drive. */
export async function countDrivable(db: Queryable, deadlineMs: number): Promise<number> {
  const [row] = await db.run<{ count: number }>(q.subscription_count_drivable, [], { deadlineMs })
  return row?.count ?? 0
}

export function renewSubscriptions(
  db: Queryable,
  owner: string,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<HeldSubscription[]> {
  return db.run<HeldSubscription>(q.subscription_renew, [owner, leaseSeconds], { deadlineMs })
}

export function takeSubscriptions(
  db: Queryable,
  owner: string,
  limit: number,
  leaseSeconds: number,
  deadlineMs: number,
): Promise<HeldSubscription[]> {
  return db.run<HeldSubscription>(q.subscription_take, [owner, limit, leaseSeconds], { deadlineMs })
}

export async function releaseSubscriptions(
  db: Queryable,
  owner: string,
  ids: readonly string[],
  deadlineMs: number,
): Promise<void> {
  await db.run(q.subscription_release, [owner, ids], { deadlineMs })
}
