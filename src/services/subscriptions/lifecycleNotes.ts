// Writes a note in the transaction of every lifecycle event that we append, so that the row of the subscription follows
// its log even if the process dies right after the commit.
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
