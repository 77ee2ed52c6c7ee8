// Makes the end of deliveries final. Every start on behalf of a subscription shows its epoch to the fence of its
// shard, in its own transaction; raising the fences waits for starts that are being committed and shuts out all
// that come later, also from a runtime that is frozen, cut off or believes in an old lease.
import { CpError } from '../../errors.js'
import { raiseFence } from '../../stores/subscriptionDeliveryStore.js'
import { getSubscription, type SubscriptionRow } from '../../stores/subscriptionStore.js'
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
  // A shard that we cannot ask may still be reached by the runtime: its own word, or the end of its lease, will do.
  const until = deps.clock.monotonic() + OWNER_WAIT_MS
  let current: SubscriptionRow | undefined = row
  while (row.mode === 'pull' && deps.clock.monotonic() < until) {
    current = await getSubscription(deps.databases.cluster.db, row.subscription_id)
    if (current === undefined || !current.is_owned) return
    await deps.clock.sleep(POLL_MS)
  }
  const shards = failures.map(({ shard }) => shard).join(', ')
  throw new CpError(
    'unavailable',
    `subscription ${row.subscription_id} is ${row.state}, but shard ${shards} does not answer` +
      `${current?.owner == null ? '' : ` and its runtime ${current.owner} has not confirmed`}: ` +
      'starts there may still be committed. Repeat the command when the shard is back',
    { cause: failures[0]!.error, details: { state: row.state } },
  )
}
