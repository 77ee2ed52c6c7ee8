// What retention does with subscriptions. Their ids lie in the month of their registration, and they may live for
// years, so their few events must not keep a whole month, nor go with it:
//
//   deactivated before the cutoff, no message given up   →  forgotten like an ended execution, row and log
//   everything else                                       →  its events move to the default partition, and stay
//
// The row goes first: once it is gone, nobody can activate the id, and the log may follow in any later run.
import type { Queryable } from '../../db/db.js'
import { subscriptionsIn } from '../../stores/retention/retentionStore.js'
import { forgetSubscriptions, forgettableSubscriptions } from '../../stores/subscriptions/subscriptionStore.js'
import type { RetentionPass } from './retentionPass.js'

const PAGE = 500

/** Ids that may go from here on; in a dry run those that could. */
export async function forgetOldSubscriptions(pass: RetentionPass): Promise<Set<string>> {
  const forgotten = new Set<string>()
  for (const range of pass.aged) {
    for (let after = '0'; !pass.signal?.aborted; ) {
      const page = await subscriptionsIn(pass.db, range, { after, overBefore: pass.cutoff, limit: PAGE })
      const over = page.filter((row) => row.is_over).map((row) => row.subscription_id)
      if (over.length > 0) {
        const forget = pass.dryRun ? forgettableSubscriptions : forgetSubscriptions
        for (const id of await forget(pass.clusterDb, over, pass.cutoff)) forgotten.add(id)
      }
      if (page.length < PAGE) break
      after = page[page.length - 1]!.subscription_id
    }
  }
  return forgotten
}

/** Those of a partition whose events stay. */
export async function keptSubscriptions(
  db: Queryable,
  pass: RetentionPass,
  range: RetentionPass['aged'][number],
): Promise<string[]> {
  const kept: string[] = []
  for (let after = '0'; ; ) {
    const page = await subscriptionsIn(db, range, { after, overBefore: pass.cutoff, limit: PAGE })
    for (const { subscription_id: id } of page) if (!pass.forgotten.has(id)) kept.push(id)
    if (page.length < PAGE) return kept
    after = page[page.length - 1]!.subscription_id
  }
}
