// Writes outcomes back to the outbox in batches of up to 1,000 rows, by exactly the ids that were acknowledged. Nobody waits
// for these marks, and each statement is a commit beside those that somebody waits for: a batch gathers for a moment, and
// while a statement runs. A batch that fails is kept and written again after 0.2 s.
import type { Db } from '../../../db/db.js'
import { type CpError, toCpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import type { Fence } from '../../../stores/leases/leaseStore.js'
import {
  type FailedRow,
  markUnanswered,
  type OutboxRow,
  settleFailed,
  settlePublished,
} from '../../../stores/outbox/outboxStore.js'

export interface SettlerDeps {
  db: Db
  clock: Clock
  /** Those of these lanes that are held: asking for the others costs as much as the marks. */
  fences(lanes: ReadonlySet<number>): readonly Fence[]
  /** These rows are PUBLISHED or DEAD now. Not called for rows that will be tried again. */
  onSettled(ids: readonly string[]): void
  /** Marks that changed nothing, because the lanes had gone to somebody else. */
  onFenced(count: number): void
  onError(error: CpError): void
}

export interface Settler {
  published(row: SettledRow, seq: number | null): void
  failed(row: SettledRow, failure: Omit<FailedRow, 'outboxId'>): void
  /** Sent at `since` by our clock, and no answer came: it may be in the stream. */
  unanswered(row: SettledRow, since: number): void
  /** Resolves when everything known so far is written, or the deadline has passed. */
  drain(deadlineMs: number): Promise<void>
}

type SettledRow = Pick<OutboxRow, 'outbox_id' | 'lane'>

const BATCH_MAX = 1_000
const RETRY_MS = 200
// A second statement runs while the first one waits for its commit, if there is enough for both.
const WRITERS_MAX = 2
const WORTH_A_SECOND = 250
const GATHER_MS = 20

interface InLane {
  outboxId: string
  lane: number
}

export function createSettler(deps: SettlerDeps): Settler {
  let acked: (InLane & { seq: number | null })[] = []
  let failures: (InLane & FailedRow)[] = []
  let unanswered: (InLane & { since: number })[] = []
  let writers = 0
  let gathering: NodeJS.Timeout | undefined
  let isCalled = false

  function kick(): void {
    if (isCalled || writers >= WRITERS_MAX || (writers > 0 && acked.length < WORTH_A_SECOND)) return
    if (acked.length >= WORTH_A_SECOND || failures.length > 0 || unanswered.length > 0) call()
    else gathering ??= setTimeout(call, GATHER_MS)
  }

  /** The other outcomes of this turn join. */
  function call(): void {
    isCalled = true
    clearTimeout(gathering)
    gathering = undefined
    setImmediate(() => {
      isCalled = false
      void write()
    })
  }

  async function write(): Promise<void> {
    if (!hasWork()) return
    writers += 1
    const batch = acked.slice(0, BATCH_MAX)
    const refused = failures.slice(0, BATCH_MAX)
    const silent = unanswered.slice(0, BATCH_MAX)
    acked = acked.slice(batch.length)
    failures = failures.slice(refused.length)
    unanswered = unanswered.slice(silent.length)
    try {
      // First: whatever becomes of the others, these must not be forgotten.
      if (silent.length > 0) {
        const now = deps.clock.monotonic()
        const rows = silent.map(({ outboxId, since }) => ({ outboxId, unansweredMs: now - since }))
        await markUnanswered(deps.db, rows, fencesOf(silent))
        silent.splice(0)
      }
      if (batch.length > 0) {
        tellFenced(batch, await settlePublished(deps.db, batch, fencesOf(batch)))
        deps.onSettled(batch.splice(0).map((row) => row.outboxId))
      }
      if (refused.length > 0) {
        tellFenced(refused, await settleFailed(deps.db, refused, fencesOf(refused)))
        deps.onSettled(
          refused
            .splice(0)
            .filter((row) => row.status === 'DEAD')
            .map((row) => row.outboxId),
        )
      }
    } catch (error) {
      // Kept and tried again; if the lanes are gone by then, the fence turns it away.
      acked = [...batch, ...acked]
      failures = [...refused, ...failures]
      unanswered = [...silent, ...unanswered]
      deps.onError(toCpError(error))
      await deps.clock.sleep(RETRY_MS)
    }
    writers -= 1
    if (hasWork()) kick()
  }

  function fencesOf(rows: readonly InLane[]): readonly Fence[] {
    return deps.fences(new Set(rows.map(({ lane }) => lane)))
  }

  function hasWork(): boolean {
    return acked.length > 0 || failures.length > 0 || unanswered.length > 0
  }

  function tellFenced(batch: readonly unknown[], marked: number): void {
    if (marked < batch.length) deps.onFenced(batch.length - marked)
  }

  return {
    published: ({ outbox_id, lane }, seq) => {
      acked.push({ outboxId: outbox_id, lane, seq })
      kick()
    },
    failed: ({ outbox_id, lane }, failure) => {
      failures.push({ outboxId: outbox_id, lane, ...failure })
      kick()
    },
    unanswered: ({ outbox_id, lane }, since) => {
      unanswered.push({ outboxId: outbox_id, lane, since })
      kick()
    },
    drain: async (deadlineMs) => {
      const until = deps.clock.monotonic() + deadlineMs
      const isBusy = (): boolean => hasWork() || writers > 0
      while (isBusy() && deps.clock.monotonic() < until) await deps.clock.sleep(5)
    },
  }
}
