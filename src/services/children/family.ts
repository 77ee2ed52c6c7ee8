// What is known of parents and children, wherever their shards are.
import type { Databases } from '../../db/databases.js'
import { type CpError, toCpError } from '../../errors.js'
import { type FamilyMember, readFamily } from '../../stores/children/childStore.js'

export interface Family {
  /** Undefined: there is no such execution. Fails if its shard was away: nobody is taken for missing because of that. */
  get(executionId: string): FamilyMember | undefined
}

/** One question per shard; one that is away holds up only those that live there. */
export async function familyOf(databases: Databases, executionIds: readonly string[]): Promise<Family> {
  const byShard = new Map<number, string[]>()
  for (const id of new Set(executionIds)) {
    const shard = databases.shardOf(id)
    byShard.set(shard, [...(byShard.get(shard) ?? []), id])
  }
  const members = new Map<string, FamilyMember>()
  const away = new Map<number, CpError>()
  const ask = async (shard: number, ids: readonly string[]): Promise<void> => {
    try {
      for (const member of await readFamily(databases.shards[shard]!.db, ids)) members.set(member.execution_id, member)
    } catch (error) {
      away.set(shard, toCpError(error))
    }
  }
  await Promise.all([...byShard].map(([shard, ids]) => ask(shard, ids)))
  return {
    get: (executionId) => {
      const trouble = away.get(databases.shardOf(executionId))
      if (trouble !== undefined) throw trouble
      return members.get(executionId)
    },
  }
}
