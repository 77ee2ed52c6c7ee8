// How far the steps of an execution have come. Asked about again and again while one runs, so what was read is
// remembered and only newer events are read: a question costs what happened since the last one, not the length of
// the log. Exact, because versions are dense and in commit order, and a step never comes to a lower rank. A failover may
// lose commits and give their versions to others: the event that was read last tells, and all is read anew.
import type { Queryable } from '../../db/db.js'
import { readStepRanks, type StepRank } from '../../stores/events/eventStore.js'

export interface StepCounts {
  total: number
  completed: number
  failed: number
  running: number
  /** Names of those that are completed, sorted. */
  completedSteps: string[]
}

export type StepProgress = (db: Queryable, executionId: string) => Promise<StepCounts>

interface Known {
  version: string
  /** Which event has that version. */
  mark: string
  /** By numbered events alone: one without a number may vanish, or get any. */
  ranks: Map<string, number>
}

const EXECUTIONS_MAX = 1_000
/** With more, the steps are data; they are read anew each time. */
const STEPS_MAX = 1_000
const BEFORE_ALL = '-1'
const COMPLETED = 3

export function createStepProgress(): StepProgress {
  // In the order of their last use.
  const known = new Map<string, Known>()

  async function progress(db: Queryable, executionId: string): Promise<StepCounts> {
    const before = known.get(executionId)
    const rows = await readStepRanks(db, executionId, before?.version ?? BEFORE_ALL)
    known.delete(executionId)
    if (before !== undefined && !rows.some(({ mark }) => mark === before.mark)) return progress(db, executionId)
    const ranks = new Map(before?.ranks)
    const unnumbered = new Map<string, number>()
    let head: StepRank | undefined
    for (const row of rows) {
      if (row.rank !== null) raise(row.is_numbered ? ranks : unnumbered, row.node_name, row.rank)
      else if (head === undefined || BigInt(row.stream_version!) > BigInt(head.stream_version!)) head = row
    }
    if (head !== undefined && ranks.size <= STEPS_MAX)
      known.set(executionId, { version: head.stream_version!, mark: head.mark!, ranks })
    for (const oldest of known.keys()) {
      if (known.size <= EXECUTIONS_MAX) break
      known.delete(oldest)
    }
    const all = new Map(ranks)
    for (const [name, rank] of unnumbered) raise(all, name, rank)
    return countsOf(all)
  }

  return progress
}

function raise(ranks: Map<string, number>, name: string | null, rank: number): void {
  if (name !== null) ranks.set(name, Math.max(rank, ranks.get(name) ?? 0))
}

function countsOf(ranks: ReadonlyMap<string, number>): StepCounts {
  const of = (wanted: number): number => Array.from(ranks.values()).filter((rank) => rank === wanted).length
  const completedSteps = Array.from(ranks.keys())
    .filter((name) => ranks.get(name) === COMPLETED)
    .sort()
  return { total: ranks.size, completed: completedSteps.length, failed: of(2), running: of(1), completedSteps }
}
