// Paths and versions by catalog id, for lists of executions. They never change, so what was read once is remembered.
import type { Databases } from '../../db/databases.js'
import { type EntryName, namesOfEntries } from '../../stores/catalog/catalogStore.js'

/** Without those that the catalog does not have. */
export type EntryNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, EntryName>>

const REMEMBERED_MAX = 10_000

export function createEntryNames({ cluster }: Pick<Databases, 'cluster'>): EntryNames {
  const known = new Map<string, EntryName>()
  return async (ids) => {
    const missing = [...new Set(ids)].filter((id) => !known.has(id))
    const read = missing.length === 0 ? [] : await namesOfEntries(cluster.db, missing)
    const found = new Map<string, EntryName>()
    for (const id of ids) {
      const name = known.get(id)
      if (name !== undefined) found.set(id, name)
    }
    for (const name of read) found.set(name.catalog_id, name)
    if (known.size + read.length > REMEMBERED_MAX) known.clear()
    for (const name of read) known.set(name.catalog_id, name)
    return found
  }
}
