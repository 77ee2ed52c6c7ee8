// Makes a pause or an end of deliveries final. Every shard has a fence per subscription: the lowest epoch that may start
// executions. A start reads the fence in its own transaction. Raising the fence waits for starts that are being committed
// and refuses every later one with an older epoch, also from a process that is frozen, cut off or holds an expired lease.
import { CpError } from '../../errors.js'
import { raiseFence } from '../../stores/subscriptions/subscriptionDeliveryStore.js'
import { getSubscription, type SubscriptionRow } from '../../stores/subscriptions/subscriptionStore.js'
import type { LifecycleDeps } from './intent.js'

const RAISE_DEADLINE_MS = 10_000
const OWNER_WAIT_MS = 12_000
const POLL_MS = 200

export async function closeFences(
  deps: Pick<LifecycleDeps, 'databases' | 'clock'>,
  row: SubscriptionRow,
): Promise<void> {
  if (row.state !== 'PAUSED' && row.state !== 'DEACTIVATED') return
  const { failures } = await deps.databases.fanOut((db) =>
    raiseFence(db, row.subscription_id, row.epoch, RAISE_DEADLINE_MS),
  )
  if (failures.length === 0) return
  // A shard that we cannot ask may still be reached by the runtime; its own word that it holds nothing will do. The
  // end of its lease would not: a frozen process may wake up in the middle of a commit.
  const until = deps.clock.monotonic() + OWNER_WAIT_MS
  const isBusy = failures.some(({ error }) => error.code === 'timeout')
  while (row.mode === 'pull' && !isBusy && deps.clock.monotonic() < until) {
    const current = await getSubscription(deps.databases.cluster.db, row.subscription_id)
    if (current === undefined || current.owner === null) return
    await deps.clock.sleep(POLL_MS)
  }
  const unstopped = failures.map(({ shard }) => shard)
  const shards = unstopped.join(', ')
  const detail = { state: row.state, unstopped_shards: unstopped }
  throw new CpError(
    'unavailable',
    `subscription ${row.subscription_id} is ${row.state}, but ` +
      (isBusy
        ? `a start in shard ${shards} is neither committed nor given up; it may still be. The server ends it within a minute`
        : `shard ${shards} does not answer: starts there may still be committed. They end with its return`) +
      '; repeat the command to be sure',
    { cause: failures[0]!.error, details: { state: row.state, detail } },
  )
}
