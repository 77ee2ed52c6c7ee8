// One entry of the catalog, by its id or by its path.
import type { Databases } from '../../db/databases.js'
import { CpError } from '../../errors.js'
import { type CatalogEntry, getCatalogEntry } from '../../stores/catalog/catalogStore.js'

export interface WantedEntry {
  catalogId?: string | undefined
  path?: string | undefined
  /** Undefined is the newest that is not archived. */
  version?: number | undefined
}

export async function findEntry(deps: { databases: Databases }, want: WantedEntry): Promise<CatalogEntry> {
  if (want.catalogId === undefined && want.path === undefined) {
    throw new CpError('refused', 'name the catalog entry by catalog_id or by path')
  }
  const entry = await getCatalogEntry(deps.databases.cluster.db, want)
  if (entry !== undefined) return entry
  const name =
    want.catalogId !== undefined
      ? `catalog entry ${want.catalogId}`
      : `catalog path ${want.path}${want.version === undefined ? '' : ` version ${want.version}`}`
  throw new CpError('not_found', `${name} does not exist; see "noetl-cp catalog list"`)
}
