// Push subscriptions that are in the catalog and were never registered, by listener. Strangers ask for names that do not
// exist as often as they like, so the catalog is looked at every two seconds at most.
import type { Databases } from '../../db/databases.js'
import { isOwnTrouble, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { listUnregistered } from '../../stores/subscriptions/subscriptionPathStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'

export interface UnregisteredDeps {
  databases: Databases
  documents: CatalogDocuments
  clock: Clock
}

const REMEMBERED_MS = 2_000
const ENTRIES_MAX = 1_000

/** The path of the entry that has the listener. Of several the first by path. */
export function unregisteredListeners(deps: UnregisteredDeps): (listener: string) => Promise<string | undefined> {
  let known: { atMs: number; paths: Promise<Map<string, string>> } | undefined

  async function read(): Promise<Map<string, string>> {
    const paths = new Map<string, string>()
    for (const { catalog_id: id, path } of await listUnregistered(deps.databases.cluster.db, ENTRIES_MAX)) {
      const listener = await listenerOf(deps, id)
      if (listener !== undefined && !paths.has(listener)) paths.set(listener, path)
    }
    return paths
  }

  return async (listener) => {
    const now = deps.clock.monotonic()
    if (known === undefined || now - known.atMs >= REMEMBERED_MS) known = { atMs: now, paths: read() }
    const asked = known
    try {
      const path = (await asked.paths).get(listener)
      // It is registered now; what is remembered is not true any more.
      if (path !== undefined) known = undefined
      return path
    } catch (error) {
      if (known === asked) known = undefined
      throw error
    }
  }
}

async function listenerOf({ documents }: UnregisteredDeps, catalogId: string): Promise<string | undefined> {
  try {
    const { subscription } = await documents.of(catalogId)
    return subscription?.mode === 'push' ? subscription.ingress?.listener : undefined
  } catch (error) {
    // A document with mistakes has no listener; registering it tells what is wrong. A database that is away is another thing.
    if (isOwnTrouble(error)) throw toCpError(error)
    return undefined
  }
}
