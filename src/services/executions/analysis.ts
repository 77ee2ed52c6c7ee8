// An execution as somebody sees it who asks what is wrong with it: what it waits for, how far it came, its last events.
import type { ExecutionId } from '../../domain/ids/ids.js'
import { type StuckFinding, type WhyStuckDeps, whyStuck } from '../state/whyStuck.js'
import { type ExecutionViewsDeps, type ShownExecution, shownExecution } from './executionViews.js'
import type { StepCounts } from './stepProgress.js'

export interface AnalysisDeps {
  queries: ExecutionViewsDeps
  stuck: WhyStuckDeps
}

export interface Analysis extends Omit<ShownExecution, 'progress'> {
  progress: StepCounts
  findings: readonly StuckFinding[]
}

const SAMPLE = { limit: 20, offset: 0, sinceEventId: null, eventType: null }
const SAMPLE_BYTES = 256 * 1024

export async function analyseExecution({ queries, stuck }: AnalysisDeps, id: ExecutionId): Promise<Analysis> {
  const [shown, progress, { findings }] = await Promise.all([
    shownExecution(queries, id, SAMPLE, SAMPLE_BYTES),
    queries.stepProgress(queries.databases.of(id), id),
    whyStuck(stuck, id),
  ])
  return { ...shown, progress, findings }
}
