// The read model, made anew from the logs of all shards: rows that are missing or say something else are
// corrected. Of several ids of one path that are not deactivated the newest holds the path; the others keep
// their state, deliver nothing and can only be deactivated.
import type { Databases } from '../../db/databases.js'
import { compareIds } from '../../domain/ids/ids.js'
import { lifecycleStatusOf } from '../../domain/subscriptions/subscription.js'
import { toCpError } from '../../errors.js'
import { newestLifecycle, registeredIds } from '../../stores/subscriptions/subscriptionLogStore.js'
import {
  describeRow,
  getSubscription,
  type LoggedState,
  rebuildRow,
  setTrouble,
} from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { entryOf } from './entry.js'
import { type LifecycleDeps, settled } from './lifecycle.js'
import { loggedState } from './loggedState.js'

const PAGE = 500

export interface Rebuilt {
  checked: number
  corrected: string[]
  /** Ids that are not deactivated beside a newer one of the same path. */
  superseded: string[]
}

export async function rebuildSubscriptions(deps: LifecycleDeps): Promise<Rebuilt> {
  const found: (LoggedState & { path: string })[] = []
  for (const { db } of deps.databases.shards) {
    for (let after = '0'; ; ) {
      const ids = await registeredIds(db, after, PAGE)
      if (ids.length === 0) break
      for (const newest of await newestLifecycle(db, ids)) {
        const state = lifecycleStatusOf(newest.event_type)
        if (state !== undefined) {
          found.push({ ...loggedState(newest, state), path: newest.path ?? newest.subscription_id })
        }
      }
      after = ids[ids.length - 1]!
    }
  }
  // The newest first, so that it takes the path; those that give it up before those that take it.
  found.sort((a, b) => Number(b.state === 'DEACTIVATED') - Number(a.state === 'DEACTIVATED') || compareIds(b.id, a.id))
  const result: Rebuilt = { checked: found.length, corrected: [], superseded: [] }
  const taken = new Set<string>()
  const { db } = deps.databases.cluster
  for (const state of found) {
    await settled(deps, await getSubscription(db, state.id))
    const live = state.state !== 'DEACTIVATED' && !taken.has(state.path)
    if (state.state !== 'DEACTIVATED' && !live) result.superseded.push(state.id)
    if (live) taken.add(state.path)
    if (await rebuildRow(db, state.path, state, live)) result.corrected.push(state.id)
    await describeSubscription(deps, state.id)
  }
  return result
}

/** Reads the catalog entry of a row that was made from the log alone. */
export async function describeSubscription(
  deps: { databases: Databases; documents: CatalogDocuments },
  id: string,
): Promise<void> {
  const { db } = deps.databases.cluster
  const row = await getSubscription(db, id)
  if (row === undefined || row.mode !== null) return
  try {
    await describeRow(db, id, (await entryOf(deps, row.catalog_id)).entry)
  } catch (error) {
    await setTrouble(db, id, toCpError(error).message)
  }
}
