// An execution as somebody sees it who asks what is wrong with it: what it waits for, how far it came, its last events.
import type { ExecutionId } from '../../domain/ids/ids.js'
import { type StuckFinding, type WhyStuckDeps, whyStuck } from '../state/whyStuck.js'
import { type ExecutionViewsDeps, shownExecution } from './executionViews.js'

export interface AnalysisDeps {
  queries: ExecutionViewsDeps
  stuck: WhyStuckDeps
}

export interface Analysis extends Awaited<ReturnType<typeof shownExecution>> {
  findings: readonly StuckFinding[]
}

const SAMPLE = { limit: 20, offset: 0, sinceEventId: null, eventType: null }
const SAMPLE_BYTES = 256 * 1024

export async function analyseExecution({ queries, stuck }: AnalysisDeps, id: ExecutionId): Promise<Analysis> {
  const [shown, { findings }] = await Promise.all([
    shownExecution(queries, id, SAMPLE, SAMPLE_BYTES),
    whyStuck(stuck, id),
  ])
  return { ...shown, findings }
}
