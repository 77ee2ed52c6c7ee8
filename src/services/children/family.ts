// What is known of parents and children, wherever their shards are.
import type { Databases } from '../../db/databases.js'
import { type FamilyMember, readFamily } from '../../stores/children/childStore.js'

export type Family = ReadonlyMap<string, FamilyMember>

/** One question per shard. A shard that is away is an error: nobody is taken for missing because of it. */
export async function familyOf(databases: Databases, executionIds: readonly string[]): Promise<Family> {
  const byShard = new Map<number, string[]>()
  for (const id of new Set(executionIds)) {
    const shard = databases.shardOf(id)
    byShard.set(shard, [...(byShard.get(shard) ?? []), id])
  }
  const found = await Promise.all([...byShard].map(([shard, ids]) => readFamily(databases.shards[shard]!.db, ids)))
  return new Map(found.flat().map((member) => [member.execution_id, member]))
}
