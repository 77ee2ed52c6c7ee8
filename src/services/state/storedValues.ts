// Values that decisions need and the log does not hold: the text of a catalog entry, for a thread that has no plan of it yet,
// and results that were too large for their event. Neither ever changes, so both are remembered for a while.
import type { Databases } from '../../db/databases.js'
import { writeJson } from '../../domain/json/write.js'
import { LruMap } from '../../runtime/lruMap.js'
import { getCatalogEntry } from '../../stores/catalog/catalogStore.js'
import { CATALOG_REF } from './inThread/engine.js'
import type { FetchValues } from './neededValues.js'

const REMEMBERED = { entriesMax: 10_000, weightMax: 64 * 1_048_576 }

/** `readResult`: JSON text; undefined says that it can never be had. */
export function valuesOf(databases: Databases, readResult: (ref: string) => Promise<string | undefined>): FetchValues {
  const known = new LruMap<string, string>(REMEMBERED)

  async function catalogText(catalogId: string): Promise<string | undefined> {
    const entry = await getCatalogEntry(databases.cluster.db, { catalogId })
    return typeof entry?.content === 'string' ? writeJson(entry.content) : undefined
  }

  async function resultText(ref: string): Promise<string | undefined> {
    const before = known.get(ref)
    if (before !== undefined) return before
    const text = await readResult(ref)
    if (text !== undefined) known.set(ref, text, text.length)
    return text
  }

  return (_executionId, refs) =>
    Promise.all(
      refs.map(async (ref) => {
        const isCatalog = ref.startsWith(CATALOG_REF)
        return [ref, isCatalog ? await catalogText(ref.slice(CATALOG_REF.length)) : await resultText(ref)] as const
      }),
    )
}
