// Makes the rows of subscriptions anew from the logs of all shards, one transaction per path. Rows that are missing or
// differ are corrected.
import { isOwnTrouble, toCpError } from '../../errors.js'
import { loggedIds } from '../../stores/subscriptions/subscriptionLogStore.js'
import { pathsOf } from '../../stores/subscriptions/subscriptionPathStore.js'
import { getSubscription } from '../../stores/subscriptions/subscriptionStore.js'
import { describeSubscription } from './describe.js'
import { withoutIntent } from './following.js'
import type { LifecycleDeps } from './intent.js'
import { loggedStates } from './loggedState.js'
import { type WrittenPath, writePath } from './pathRows.js'

const PAGE = 500

export interface Rebuilt {
  checked: number
  corrected: string[]
  /** Ids that are not deactivated beside a newer one of the same path. */
  superseded: string[]
  failed: { path: string; reason: string }[]
}

export async function rebuildSubscriptions(deps: LifecycleDeps): Promise<Rebuilt> {
  const result: Rebuilt = { checked: 0, corrected: [], superseded: [], failed: [] }
  for (const [path, ids] of await idsByPath(deps)) {
    result.checked += ids.length
    try {
      const { corrected, superseded } = await rebuildPath(deps, path, ids)
      result.corrected.push(...corrected)
      result.superseded.push(...superseded)
    } catch (error) {
      if (isOwnTrouble(error)) throw error
      result.failed.push({ path, reason: toCpError(error).message })
    }
  }
  return result
}

async function idsByPath(deps: LifecycleDeps): Promise<Map<string, string[]>> {
  const byPath = new Map<string, string[]>()
  for (const { db } of deps.databases.shards) {
    for (let after = '-9223372036854775808'; ; ) {
      const ids = await loggedIds(db, after, PAGE)
      if (ids.length === 0) break
      for (const [id, path] of await pathsOf(deps.databases.cluster.db, await loggedStates(db, ids))) {
        byPath.set(path, [...(byPath.get(path) ?? []), id])
      }
      after = ids[ids.length - 1]!
    }
  }
  return byPath
}

async function rebuildPath(deps: LifecycleDeps, path: string, ids: readonly string[]): Promise<WrittenPath> {
  const { db } = deps.databases.cluster
  for (const id of ids) await withoutIntent(deps, await getSubscription(db, id))
  const written = await writePath(db, path, async () => {
    const { answers, failures } = await deps.databases.fanOut((shardDb, shard) =>
      loggedStates(
        shardDb,
        ids.filter((id) => deps.databases.shardOf(id) === shard),
      ),
    )
    if (failures.length > 0) throw failures[0]!.error
    return answers.flatMap(({ value }) => value)
  })
  for (const id of ids) await describeSubscription(deps, id)
  return written
}
