// Whatever makes the log of a subscription grow through us leaves a note in the same transaction, so that the read model
// follows, also when the process dies right after the commit.
import type { Tx } from '../../db/db.js'
import { lifecycleStatusOf } from '../../domain/subscriptions/subscription.js'
import { noteNews } from '../../stores/subscriptions/subscriptionLogStore.js'

export async function noteLifecycle(
  tx: Tx,
  events: readonly { executionId: string; eventType: string }[],
): Promise<void> {
  const ids = new Set<string>()
  for (const { executionId, eventType } of events) if (lifecycleStatusOf(eventType) !== undefined) ids.add(executionId)
  if (ids.size > 0) await noteNews(tx, [...ids])
}
