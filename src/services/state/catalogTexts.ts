// Playbooks for threads that have no plan of them yet: the text of a catalog entry, as one of the values that decisions need.
import type { Databases } from '../../db/databases.js'
import { writeJson } from '../../domain/json/write.js'
import { getCatalogEntry } from '../../stores/catalog/catalogStore.js'
import { CATALOG_REF } from './inThread/engine.js'
import type { FetchValues } from './neededValues.js'

export function catalogTexts(databases: Databases): FetchValues {
  const textOf = async (ref: string): Promise<readonly [string, string | undefined]> => {
    if (!ref.startsWith(CATALOG_REF)) return [ref, undefined]
    const entry = await getCatalogEntry(databases.cluster.db, { catalogId: ref.slice(CATALOG_REF.length) })
    return [ref, typeof entry?.content === 'string' ? writeJson(entry.content) : undefined]
  }
  return (_executionId, refs) => Promise.all(refs.map(textOf))
}
