// How far the steps of an execution have come. Asked about again and again while one runs, so what was read is
// remembered and only newer events are read: a question costs what happened since the last one, not the length of
// the log. Exact, because versions are dense and in commit order, and a step never comes to a lower rank.
import type { Queryable } from '../../db/db.js'
import { readStepRanks } from '../../stores/events/eventStore.js'

export interface StepCounts {
  total: number
  completed: number
  failed: number
  running: number
}

export type StepProgress = (db: Queryable, executionId: string) => Promise<StepCounts>

interface Known {
  version: string
  ranks: Map<string, number>
}

const EXECUTIONS_MAX = 1_000
/** With more, the steps are data; they are read anew each time. */
const STEPS_MAX = 1_000

export function createStepProgress(): StepProgress {
  // In the order of their last use.
  const known = new Map<string, Known>()

  return async (db, executionId) => {
    const before = known.get(executionId)
    const rows = await readStepRanks(db, executionId, before?.version ?? '-1')
    const ranks = new Map(before?.ranks)
    let version = before?.version ?? '-1'
    for (const { node_name, rank, stream_version } of rows) {
      if (stream_version !== null && BigInt(stream_version) > BigInt(version)) version = stream_version
      if (node_name !== null) ranks.set(node_name, Math.max(rank, ranks.get(node_name) ?? 0))
    }
    known.delete(executionId)
    if (ranks.size <= STEPS_MAX) known.set(executionId, { version, ranks })
    for (const oldest of known.keys()) {
      if (known.size <= EXECUTIONS_MAX) break
      known.delete(oldest)
    }
    return countsOf(ranks)
  }
}

function countsOf(ranks: ReadonlyMap<string, number>): StepCounts {
  const of = (wanted: number): number => Array.from(ranks.values()).filter((rank) => rank === wanted).length
  return { total: ranks.size, completed: of(3), failed: of(2), running: of(1) }
}
