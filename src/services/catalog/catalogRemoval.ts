// Takes deleted catalog entries out of the table once no start that had found them can still be under way. Those that
// an execution was started from after all stay archived, so that its history remains readable.
import type { Databases } from '../../db/databases.js'
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { keepEntries, referencedEntries, removableEntries, removeEntries } from '../../stores/catalog/catalogStore.js'

/** Far longer than a start may take from reading the catalog to its commit. */
export const REMOVE_AFTER_SECONDS = 600
const EVERY_MS = 60_000
const BATCH = 100

export interface RemovalPass {
  removed: number
  kept: number
}

export async function removeDeleted(databases: Databases): Promise<RemovalPass> {
  const ids = await removableEntries(databases.cluster.db, BATCH)
  if (ids.length === 0) return { removed: 0, kept: 0 }
  const used = await databases.fanOut((db) => referencedEntries(db, ids))
  // A shard that cannot be asked may hold a reference: all of them wait for the next pass.
  if (used.failures.length > 0) throw used.failures[0]!.error
  const inUse = new Set(used.answers.flatMap((answer) => answer.value))
  const kept = ids.filter((id) => inUse.has(id))
  const removed = ids.filter((id) => !inUse.has(id))
  await databases.cluster.db.tx(async (tx) => {
    await keepEntries(tx, kept)
    await removeEntries(tx, removed)
  })
  return { removed: removed.length, kept: kept.length }
}

export function createCatalogRemoval(deps: {
  databases: Databases
  clock: Clock
  random: () => number
  onError(error: CpError): void
}): PollLoop {
  return createPollLoop({
    name: 'catalog removal',
    clock: deps.clock,
    random: deps.random,
    idleMs: EVERY_MS,
    errorMs: 5_000,
    errorMsMax: EVERY_MS,
    onError: deps.onError,
    runOnce: async () => {
      const { removed, kept } = await removeDeleted(deps.databases)
      return removed + kept === BATCH ? 'busy' : 'idle'
    },
  })
}
