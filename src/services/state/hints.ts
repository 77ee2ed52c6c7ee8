// Tells other daemons which executions have news. Gathered for a moment, because every NOTIFY takes a lock of the
// whole server; only a hint, because the reconciler finds what was missed.
import type { Databases } from '../../db/databases.js'
import { type CpError, toCpError } from '../../errors.js'
import { notifyDrivers } from '../../stores/state/stateStore.js'

const GATHER_MS = 30
// A notification carries less than 8,000 bytes, an id at most 20 and a comma.
const IDS_MAX = 350

export interface Hints {
  add(shard: number, executionId: string): void
  /** Sends what is gathered at once; for a process that is about to end. */
  flush(): Promise<void>
}

export function createHints(deps: { databases: Databases; onError(error: CpError): void }): Hints {
  const waiting = deps.databases.shards.map(() => new Set<string>())

  async function send(shard: number): Promise<void> {
    const ids = [...waiting[shard]!]
    waiting[shard]!.clear()
    const { db } = deps.databases.shards[shard]!
    for (let start = 0; start < ids.length; start += IDS_MAX) {
      await notifyDrivers(db, ids.slice(start, start + IDS_MAX).join(','))
    }
  }

  const sendQuietly = (shard: number): Promise<void> =>
    send(shard).catch((error: unknown) => deps.onError(toCpError(error)))

  return {
    add: (shard, executionId) => {
      const set = waiting[shard]!
      set.add(executionId)
      if (set.size > 1) return
      setTimeout(() => void sendQuietly(shard), GATHER_MS).unref()
    },
    flush: async () => {
      await Promise.all(waiting.map((_, shard) => sendQuietly(shard)))
    },
  }
}
