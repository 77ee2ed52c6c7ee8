// The engine: from the plan of a playbook and the state of an execution to what happens next. One decision is about one
// thing (a visit that ended, items of a loop, a step that became ready), and its key names it: the same state gives the
// same decision again, and a key is written once. Pure, synchronous and total: what cannot be decided fails the execution
// and says why.

import { compareIds } from '../ids/ids.js'
import type { JsonObject } from '../json/value.js'
import type { Plan } from '../playbook/plan.js'
import type { Decision, FetchedValues, Verdict } from '../state/orchestrator.js'
import type { WorkflowState } from '../state/workflowState.js'
import { noWrites } from './assign.js'
import { Board, type BoardInput, type LiveVisit } from './board.js'
import { nextInCursor } from './cursorLoop.js'
import { executionDeadline, nearestDeadline } from './deadlines.js'
import { emitWrites } from './emit.js'
import { emitEnd, emitFailure, failedDecision, isQuiescent, pendingFinalStep } from './endExecution.js'
import { EngineContext } from './engineContext.js'
import { MissingValues } from './engineError.js'
import { enterReady, enterThen } from './enterReady.js'
import { exitVisit } from './exitVisit.js'
import type { Finish } from './finish.js'
import { finishOf } from './finishVisit.js'
import { issueMoreItems, nextItem } from './listLoop.js'
import { consumedBy } from './ready.js'
import { renderMap } from './render.js'
import { type EngineSettings, QUICK_VISITS_MAX } from './settings.js'
import { situationOf } from './situation.js'

export interface EngineInput {
  readonly plan: Plan
  readonly state: WorkflowState
  readonly settings: EngineSettings
  readonly nowMs: number
  readonly startMeta: JsonObject
  readonly fetched: FetchedValues
}

/** Undefined: nothing to do until something happens. */
export function decide(input: EngineInput): Verdict | undefined {
  const { driven, end } = input.state
  if (driven === undefined || end !== undefined || input.state.started === undefined) return undefined
  try {
    return firstOf({ ...input, driven })
  } catch (error) {
    if (error instanceof MissingValues) return { needs: error.refs }
    return failed({ ...input, driven }, error)
  }
}

/** In this order, the first that applies. */
function firstOf(input: BoardInput): Verdict | undefined {
  const board = new Board(input, QUICK_VISITS_MAX)
  if (!board.hasBegun) return made(board, 'start', () => start(board))
  const finished = oldestFinished(board)
  if (finished !== undefined) {
    const { live, finish } = finished
    return made(board, `${nameOf(live)}:exit`, () => enterReady(board, exitVisit(board, live, finish)))
  }
  for (const live of inDocumentOrder(board)) {
    const more = moreOf(board, live)
    if (more !== undefined) return made(board, `${nameOf(live)}:${more.key}`, more.issue)
  }
  const ready = board.isStopped ? undefined : situationOf(board).next([])
  if (ready !== undefined) {
    const key = `${board.stepAt(ready).name}#${board.visitCount(ready) + 1}:enter`
    return made(board, key, () => enterReady(board, []))
  }
  const deadline = nearestDeadline(board)
  if (deadline !== undefined && deadline.atMs <= input.nowMs)
    return made(board, deadline.key, () => deadline.emit(board))
  const end = executionDeadline(board)
  if (end !== undefined && end <= input.nowMs) {
    return made(board, 'timeout', () => emitFailure(board, 'the execution took longer than its time', 'timeout'), false)
  }
  if (isQuiescent(board)) {
    const final = pendingFinalStep(board)
    if (final !== undefined) return made(board, 'final', () => enterThen(board, final, [], { isFinal: true }))
    return made(board, 'end', () => undefined)
  }
  const nearest = Math.min(deadline?.atMs ?? Number.POSITIVE_INFINITY, end ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(nearest) ? { checkAfterMs: Math.max(0, nearest - input.nowMs) } : undefined
}

/** Carries it out on the board, and ends the execution if nothing is left to do. */
function made(board: Board, key: string, act: () => void, mayEnd = true): Decision {
  act()
  const isEnd = mayEnd && isQuiescent(board) && pendingFinalStep(board) === undefined
  if (isEnd) emitEnd(board)
  const goesOn = board.quickVisitsLeft <= 0 && mayEnd && !isEnd
  const { events, commands } = board
  return { key, events, commands, atMs: board.input.nowMs, ...(goesOn ? { goesOn } : {}) }
}

function start(board: Board): void {
  const { plan } = board
  const entry = plan.entry
  // A default that cannot be rendered is found now, not by whichever step reads it first.
  if (plan.workloadDefaults.length > 0) void board.workload
  if (plan.vars !== undefined) {
    const writes = { ...noWrites(), vars: renderMap(plan.vars, new EngineContext(board), '/vars') }
    board.write({}, writes.vars)
    emitWrites(board, { step: board.stepAt(entry), number: 0 } as LiveVisit, writes, undefined)
  }
  enterThen(board, entry, consumedBy(board.arrivals, entry))
}

function nameOf({ step, number }: LiveVisit): string {
  return `${step.name}#${number}`
}

function inDocumentOrder(board: Board): LiveVisit[] {
  return [...board.live.values()].sort((a, b) => a.step.index - b.step.index)
}

/** Of the visits that have ended and were not left, the one that ended first. */
function oldestFinished(board: Board): { live: LiveVisit; finish: Finish } | undefined {
  let oldest: { live: LiveVisit; finish: Finish } | undefined
  for (const live of inDocumentOrder(board)) {
    const finish = finishOf(board, live)
    if (finish === undefined) continue
    const id = finish.endId ?? '0'
    if (oldest === undefined || compareIds(id, oldest.finish.endId ?? '0') < 0) oldest = { live, finish }
  }
  return oldest
}

function moreOf(board: Board, live: LiveVisit): { key: string; issue(): void } | undefined {
  const { loop } = live.step
  if (loop === undefined) return undefined
  if (loop.mode === 'cursor') return nextInCursor(board, live, loop)
  const first = nextItem(board, live, loop)
  if (first === undefined) return undefined
  return { key: `i${first}`, issue: () => issueMoreItems(board, live, loop, first) }
}

/** Whatever went wrong here is told by the execution itself; it never just stands still. */
function failed({ driven, nowMs }: BoardInput, error: unknown): Decision {
  const steps = [...driven.failures.keys()].map((key) => key.slice(0, key.lastIndexOf('#')))
  return failedDecision(nowMs, error instanceof Error ? error.message : String(error), 'engine', [...new Set(steps)])
}
