// Finds the playbook that the messages of a subscription start. If it is missing or cannot run, the messages wait and the
// row says why; no message is given up for it.
import type { Databases } from '../../db/databases.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import { findEntry } from '../catalog/findEntry.js'
import { assertRunnable, type RunnableDeps } from '../catalog/runnable.js'

export async function findPlaybook(deps: RunnableDeps & { databases: Databases }, path: string): Promise<CatalogEntry> {
  try {
    const entry = await findEntry(deps, { path })
    await assertRunnable(deps, entry)
    return entry
  } catch (error) {
    if (isOwnTrouble(error)) throw error
    const { code, message } = toCpError(error)
    const what =
      code === 'not_found'
        ? `the playbook ${path} is not in the catalog; register it, and what waits is started`
        : message
    throw new CpError('config', what, { cause: error })
  }
}
