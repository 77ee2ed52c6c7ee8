// Writes the outcomes back, in batches, by exactly the ids that were acknowledged. One statement at a time:
// while it runs the next batch gathers, so batches grow with the load and a lone row does not wait.
import type { Db } from '../../db/db.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { type FailedRow, type Fence, settleFailed, settlePublished } from '../../stores/outboxStore.js'

export interface SettlerDeps {
  db: Db
  clock: Clock
  fence(): Fence
  /** Published or given up: gone from the table's unsettled rows. Rows that will be tried again are not told. */
  onSettled(ids: readonly string[]): void
  /** Marks that changed nothing, because the lanes had gone to somebody else. */
  onFenced(count: number): void
  onError(error: CpError): void
}

export interface Settler {
  published(outboxId: string, seq: number | null): void
  failed(row: FailedRow): void
  /** Resolves when everything known so far is written, or the deadline has passed. */
  drain(deadlineMs: number): Promise<void>
}

const BATCH_MAX = 1_000
const RETRY_MS = 200

export function createSettler(deps: SettlerDeps): Settler {
  let acked: { outboxId: string; seq: number | null }[] = []
  let failures: FailedRow[] = []
  let working: Promise<void> | undefined

  function kick(): void {
    working ??= work().finally(() => {
      working = undefined
      if (acked.length > 0 || failures.length > 0) kick()
    })
  }

  function finish(batch: readonly { outboxId: string }[], marked: number): void {
    if (marked < batch.length) deps.onFenced(batch.length - marked)
  }

  async function work(): Promise<void> {
    // Let the other acknowledgements of this turn join.
    await new Promise((resolve) => setImmediate(resolve))
    while (acked.length > 0 || failures.length > 0) {
      try {
        if (acked.length > 0) {
          const batch = acked.slice(0, BATCH_MAX)
          const marked = await settlePublished(deps.db, batch, deps.fence())
          acked = acked.slice(batch.length)
          finish(batch, marked.length)
          deps.onSettled(batch.map((row) => row.outboxId))
        }
        if (failures.length > 0) {
          const batch = failures.slice(0, BATCH_MAX)
          const marked = await settleFailed(deps.db, batch, deps.fence())
          failures = failures.slice(batch.length)
          finish(batch, marked.length)
          deps.onSettled(batch.filter((row) => row.status === 'DEAD').map((row) => row.outboxId))
        }
      } catch (error) {
        // Kept and tried again; if the lanes are gone by then, the fence turns it away.
        deps.onError(toCpError(error))
        await deps.clock.sleep(RETRY_MS)
      }
    }
  }

  return {
    published: (outboxId, seq) => {
      acked.push({ outboxId, seq })
      kick()
    },
    failed: (row) => {
      failures.push(row)
      kick()
    },
    drain: async (deadlineMs) => {
      const until = deps.clock.monotonic() + deadlineMs
      while ((acked.length > 0 || failures.length > 0 || working !== undefined) && deps.clock.monotonic() < until)
        await deps.clock.sleep(5)
    },
  }
}
