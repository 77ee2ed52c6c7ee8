// Reads the catalog entry of a row that was made from the log alone.
import type { Databases } from '../../db/databases.js'
import { toCpError } from '../../errors.js'
import { describeRow, getSubscription, setTrouble } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { entryOf } from './entry.js'

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
