// Dead rows of the outbox by reason: what died of the same thing comes back together.
import type { Databases } from '../../db/databases.js'
import type { CpError } from '../../errors.js'
import { type DeadGroup, listDeadGroups } from '../../stores/outbox/outboxAdminStore.js'

export type DeadGroups = {
  groups: (DeadGroup & { shard: number })[]
  failures: { shard: number; error: CpError }[]
  /** There are more reasons, or more rows than were looked at. */
  more: boolean
}

const GROUPS_MAX = 100
/** Of each shard, the oldest. */
const SCANNED_MAX = 100_000

/** The most frequent reason first; `shard` is where its newest row is. */
export async function deadGroups({ databases }: { databases: Databases }): Promise<DeadGroups> {
  const { answers, failures } = await databases.fanOut((db) =>
    listDeadGroups(db, { scannedMax: SCANNED_MAX, limit: GROUPS_MAX + 1 }),
  )
  const merged = new Map<string, DeadGroup & { shard: number }>()
  for (const { shard, value } of answers) {
    for (const group of value) {
      const known = merged.get(group.reason)
      const newest = known === undefined || group.newest_at > known.newest_at ? { ...group, shard } : known
      merged.set(group.reason, { ...newest, count: group.count + (known?.count ?? 0) })
    }
  }
  const groups = [...merged.values()].sort((left, right) => right.count - left.count).slice(0, GROUPS_MAX)
  const isCut = answers.some(({ value }) => value.reduce((sum, { count }) => sum + count, 0) >= SCANNED_MAX)
  return { groups, failures, more: isCut || merged.size > GROUPS_MAX }
}
