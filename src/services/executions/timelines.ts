// A small timeline of each of many executions, for their list: which steps there were, when, and how they ended.
import type { Databases } from '../../db/databases.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { CpError } from '../../errors.js'
import { readStepSpans, type StepSpan } from '../../stores/events/stepSpanStore.js'

/** More could not be told apart at the size they are drawn in. */
const SAMPLES = 200
const STEPS_MAX = 24

export interface StepBar {
  step: string
  fromMs: number
  /** Undefined: it goes on. */
  toMs: number | undefined
  status: string
}

export interface Timeline {
  executionId: string
  /** When its first step began. */
  beginsAt: WireTime
  events: number
  /** Fewer, spread evenly, when there are many. */
  lookedAt: number
  steps: StepBar[]
}

/** Those whose steps are known; the others are left out, as are those of a shard that does not answer. */
export async function timelinesOf(
  { databases }: { databases: Databases },
  ids: readonly ExecutionId[],
): Promise<{ timelines: Timeline[]; failures: { shard: number; error: CpError }[] }> {
  const { answers, failures } = await databases.fanOut(async (db, shard) => {
    const own = ids.filter((id) => databases.shardOf(id) === shard)
    return own.length === 0 ? [] : readStepSpans(db, own, { samples: SAMPLES, stepsMax: STEPS_MAX })
  })
  const found = new Map<string, Timeline>()
  for (const span of answers.flatMap(({ value }) => value)) {
    const { execution_id: executionId, first_at: first, events, looked_at: lookedAt } = span
    const known = found.get(executionId) ?? {
      executionId,
      beginsAt: wireTimeFromPostgres(`${first}+00`, 'created_at'),
      events: Number(events),
      lookedAt,
      steps: [],
    }
    known.steps.push(barOf(span))
    found.set(executionId, known)
  }
  return { timelines: [...found.values()], failures }
}

function barOf({ node_name: step, rank, from_ms: from, to_ms: to, status }: StepSpan): StepBar {
  const [fromMs, toMs] = [Number(from), Number(to)]
  if (rank === 3) return { step, fromMs, toMs, status: 'COMPLETED' }
  if (rank === 2) return { step, fromMs, toMs, status: 'FAILED' }
  // Whatever had not ended by itself ended as the execution did.
  return { step, fromMs, toMs: isTerminalStatus(status) ? toMs : undefined, status }
}
