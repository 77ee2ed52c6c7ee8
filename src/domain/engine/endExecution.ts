// When everything has ended: the final step, then the one event that ends the execution.

import type { JsonObject } from '../json/value.js'
import { millisOf } from '../state/drivenState.js'
import type { Decision, EmittedEvent } from '../state/orchestrator.js'
import type { Board } from './board.js'
import { emit } from './emit.js'
import { MissingValues } from './engineError.js'
import { resultWith } from './largeParts.js'
import { withPlaces } from './loopParts.js'
import { dataIn } from './references.js'
import type { VisitData } from './visitData.js'

/** Nothing is under way and nothing can begin. */
export function isQuiescent(board: Board): boolean {
  return board.live.size === 0 && (board.arrivals.length === 0 || board.isStopped)
}

/** The step that must run before the end. */
export function pendingFinalStep(board: Board): number | undefined {
  const { finalStep } = board.plan
  return finalStep === undefined || board.visitCount(finalStep) > 0 ? undefined : finalStep
}

export function emitEnd(board: Board): void {
  if (board.failures.length === 0) emitSuccess(board)
  else emitFailure(board, board.failureText(), String(board.failures[0]?.error['kind'] ?? 'unknown'))
}

function emitSuccess(board: Board): void {
  const found = resultOf(board)
  const context: JsonObject = { result_step: found === undefined ? null : board.stepAt(found.step).name }
  const { reference, data } = found === undefined ? NOTHING : givenBy(board, found.data)
  emit(board, {
    eventType: 'playbook.completed',
    nodeName: 'playbook',
    nodeType: 'playbook',
    status: 'COMPLETED',
    context,
    ...resultWith('COMPLETED', data, reference),
    meta: { status: 'COMPLETED', ...context, duration_ms: durationOf(board) },
  })
}

const NOTHING = { reference: undefined, data: null }

function givenBy(board: Board, visit: VisitData): Pick<VisitData, 'reference' | 'data'> {
  const { reference, data, parts, own } = visit
  if (reference === undefined) return { reference, data: withPlaces(data, parts) }
  const { fetched } = board.input
  if (Object.keys(own).length === 0) return { reference, data }
  // What the step wrote itself is not stored there: both become one.
  if (!fetched.has(reference.ref)) throw new MissingValues([reference.ref])
  return fetched.get(reference.ref) === undefined
    ? { reference, data }
    : { reference: undefined, data: dataIn(board, visit) }
}

export function emitFailure(board: Board, error: string, kind: string): void {
  const failedSteps = [...new Set(board.failures.map(({ step }) => step))]
  emit(board, failureEvent(error, kind, failedSteps, durationOf(board)))
}

function failureEvent(error: string, kind: string, failedSteps: string[], durationMs: number): EmittedEvent {
  const context: JsonObject = { error, failed_steps: failedSteps, error_kind: kind }
  return {
    eventType: 'playbook.failed',
    nodeName: 'playbook',
    nodeType: 'playbook',
    status: 'FAILED',
    context,
    result: { status: 'FAILED', context },
    meta: { status: 'FAILED', error, failed_steps: failedSteps, duration_ms: durationMs },
    error,
  }
}

/** For whoever cannot even ask: there is no plan, or deciding itself went wrong. */
export function failedDecision(nowMs: number, error: string, kind: string, failedSteps: string[] = []): Decision {
  return { key: 'error', events: [failureEvent(error, kind, failedSteps, 0)], atMs: nowMs }
}

/** Of `end`, else of the final step, else of whatever ended last. */
function resultOf(board: Board): ReturnType<Board['newestFinished']> {
  const { stepIndex, finalStep } = board.plan
  for (const step of [stepIndex.get('end'), finalStep]) {
    const data = step === undefined ? undefined : board.lastFinished(step)
    if (step !== undefined && data !== undefined) return { step, data }
  }
  return board.newestFinished()
}

function durationOf(board: Board): number {
  const { started } = board.input.state
  return started === undefined ? 0 : Math.max(0, board.input.nowMs - millisOf(started.at))
}
