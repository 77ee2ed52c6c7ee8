// From when to when the steps of executions were heard of: a small picture of each, at the same price for a log of any length.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { COMPLETED_TYPES, FAILED_TYPES, SKIPPED_TYPES } from './eventStore.js'

const q = queries('event_step_spans')

export interface StepSpan {
  execution_id: string
  status: string
  /** So many of its events were looked at, of this many. */
  looked_at: number
  events: string
  node_name: string
  /** 3 completed, 2 failed, 1 neither. */
  rank: number
  first_at: string
  /** After the first event that belongs to a step. */
  from_ms: string
  to_ms: string
}

/** By execution, each in the order in which its steps began. */
export function readStepSpans(
  db: Queryable,
  executionIds: readonly string[],
  { samples, stepsMax }: { samples: number; stepsMax: number },
): Promise<StepSpan[]> {
  const types = [COMPLETED_TYPES, FAILED_TYPES, SKIPPED_TYPES]
  return db.run<StepSpan>(q.event_step_spans, [executionIds, samples, stepsMax, ...types])
}
