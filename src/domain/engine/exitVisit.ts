// The end of a visit: what its step writes, which arcs are taken, what is known to be skipped. Emits, in this order,
// ctx.updated, step.exit (or step.skipped) and step.skipped of targets that nothing leads to any more.

import type { JsonObject } from '../json/value.js'
import type { ArcPlan } from '../playbook/plan.js'
import { type Choice, chooseArcs, NO_CHOICE } from './arcs.js'
import { assign, assignUpdates, noWrites, type Writes } from './assign.js'
import type { Board, LiveVisit } from './board.js'
import { emit, emitNotTaken, emitSkip, emitWrites } from './emit.js'
import { type EngineContext, exitContext } from './engineContext.js'
import { engineError, StepFailure } from './engineError.js'
import type { Finish } from './finish.js'
import { resultWith } from './largeParts.js'
import { partsOf } from './loopParts.js'
import { renderMap } from './render.js'
import { durationMs, type VisitData, withOwn } from './visitData.js'

/** Answers the steps that were routed to, in the order of the arcs. */
export function exitVisit(board: Board, live: LiveVisit, finish: Finish): number[] {
  const writes = noWrites()
  for (const updates of finish.updates) assignUpdates(board, updates, writes)
  const outcome = settle(board, live, finish, writes)
  const { data, isHandled, choice } = outcome
  const routed = route(live, data, choice.taken, outcome.args)
  emitWrites(board, live, writes, finish.endId)
  emitExit(board, live, finish, { data, writes, isHandled, routed: routed.map(({ said }) => said) })
  board.leave(live, data)
  if (data.status === 'error' && !isHandled) {
    board.failures.push({ step: live.step.name, visit: live.number, error: data.error ?? {} })
  }
  for (const { arrival } of routed) if (arrival !== undefined) board.arrivals.push(arrival)
  if (board.mayRoute(live)) markNotTaken(board, live, choice.notTaken)
  return routed.flatMap(({ arrival }) => (arrival === undefined ? [] : [arrival.target]))
}

/** A guard said no: its arcs are followed as after a success, with nothing in hand. */
export function skipVisit(board: Board, live: LiveVisit, reason: 'guard' | 'admit'): number[] {
  const data = dataOf(board, live, 'skipped', null, null)
  const writes = noWrites()
  const context = exitContext(board, data, 1, live.step.name)
  const choice = chooseArcs(live.step, context, false)
  const args = renderArcs(board, choice.taken, context, writes)
  const routed = route(live, data, choice.taken, args)
  emitWrites(board, live, writes, undefined)
  emitSkip(
    board,
    live,
    reason,
    routed.map(({ said }) => said),
  )
  board.leave(live, data)
  for (const { arrival } of routed) if (arrival !== undefined) board.arrivals.push(arrival)
  markNotTaken(board, live, choice.notTaken)
  return routed.flatMap(({ arrival }) => (arrival === undefined ? [] : [arrival.target]))
}

interface Outcome {
  data: VisitData
  isHandled: boolean
  choice: Choice
  /** Of each arc that was taken. */
  args: (JsonObject | undefined)[]
}

/** The first thing that goes wrong makes the visit a failure, which has arcs of its own. */
function settle(board: Board, live: LiveVisit, finish: Finish, writes: Writes): Outcome {
  if (finish.error !== null) return exitFailed(board, live, finish, finish.error, writes)
  try {
    return exitSucceeded(board, live, finish, writes)
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    if (error.error['source'] === 'next') return unrouted(board, live, finish, error.error)
    return exitFailed(board, live, finish, error.error, writes)
  }
}

function exitSucceeded(board: Board, live: LiveVisit, finish: Finish, writes: Writes): Outcome {
  const { step } = live
  const ended = dataOf(board, live, 'ok', finish, null)
  assign(board, step.assignments, exitContext(board, ended, finish.attempt, step.name), writes)
  const data = { ...ended, ...withOwn(ended.data, writes.own) }
  if (!board.mayRoute(live)) return { data, isHandled: false, choice: NO_CHOICE, args: [] }
  return followArcs(board, live, data, finish, writes, false)
}

function exitFailed(board: Board, live: LiveVisit, finish: Finish, error: JsonObject, writes: Writes): Outcome {
  const { step } = live
  if (!board.mayRoute(live)) return unrouted(board, live, finish, error)
  const data = dataOf(board, live, 'error', finish, error)
  try {
    if (step.onError === 'continue') {
      if (finish.error !== null) {
        assign(board, step.assignments, exitContext(board, data, finish.attempt, step.name), writes)
      }
      const whole = { ...data, ...withOwn(data.data, writes.own) }
      return { ...followArcs(board, live, whole, finish, writes, false), isHandled: true }
    }
    const outcome = followArcs(board, live, data, finish, writes, true)
    return { ...outcome, isHandled: outcome.choice.taken.length > 0 }
  } catch (failure) {
    if (!(failure instanceof StepFailure)) throw failure
    return unrouted(board, live, finish, failure.error)
  }
}

function followArcs(
  board: Board,
  live: LiveVisit,
  data: VisitData,
  finish: Finish,
  writes: Writes,
  isFailed: boolean,
): Outcome {
  const { step } = live
  const context = exitContext(board, data, finish.attempt, step.name)
  const choice = chooseArcs(step, context, isFailed)
  if (choice.taken.length === 0 && !isFailed && mustGoOn(board, live)) {
    throw new StepFailure(engineError('config', `no arc of step "${step.name}" was true`, 'next'))
  }
  return { data, isHandled: false, choice, args: renderArcs(board, choice.taken, context, writes) }
}

function mustGoOn(board: Board, { step }: LiveVisit): boolean {
  if (step.next.onNoMatch === 'fail') return true
  return board.plan.noNextIsError && step.name !== 'end' && step.index !== board.plan.finalStep
}

function unrouted(board: Board, live: LiveVisit, finish: Finish, error: JsonObject): Outcome {
  return { data: dataOf(board, live, 'error', finish, error), isHandled: false, choice: NO_CHOICE, args: [] }
}

/** Everything is rendered before the first arc writes. */
function renderArcs(
  board: Board,
  arcs: readonly ArcPlan[],
  context: EngineContext,
  writes: Writes,
): (JsonObject | undefined)[] {
  const args = arcs.map((arc) => (arc.args === undefined ? undefined : renderMap(arc.args, context, arc.pointer)))
  assign(
    board,
    arcs.flatMap(({ assignments }) => assignments),
    context,
    writes,
  )
  return args
}

interface Routed {
  said: JsonObject
  /** Undefined: the arc leads to an `end` that is no step. */
  arrival: Board['arrivals'][number] | undefined
}

function route(
  live: LiveVisit,
  data: VisitData,
  taken: readonly ArcPlan[],
  args: readonly (JsonObject | undefined)[],
): Routed[] {
  const { index: source } = live.step
  return taken.map((arc, at) => {
    const { target, index } = arc
    const given = args[at]
    const said: JsonObject = { step: arc.targetName, arc: index }
    if (target === undefined) return { said: { ...said, ends: true }, arrival: undefined }
    if (given !== undefined) said['args'] = given
    return { said, arrival: { source, visit: live.number, arc: index, target, args: given, data } }
  })
}

function dataOf(
  board: Board,
  live: LiveVisit,
  status: VisitData['status'],
  finish: Finish | null,
  error: JsonObject | null,
): VisitData {
  const { enter } = live.visit
  return {
    visit: live.number,
    status,
    data: finish?.answer.data ?? null,
    reference: finish?.answer.reference,
    own: {},
    parts: partsOf(finish?.stored),
    error,
    startedAt: enter?.at ?? board.now,
    finishedAt: board.now,
    isLoop: live.step.loop !== undefined,
  }
}

function emitExit(
  board: Board,
  live: LiveVisit,
  finish: Finish,
  told: { data: VisitData; writes: Writes; isHandled: boolean; routed: JsonObject[] },
): void {
  const { step, number } = live
  const { data } = told
  const status = data.status === 'error' ? 'FAILED' : 'COMPLETED'
  const context: JsonObject = { ...finish.context }
  if (data.error !== null) context['error'] = data.error
  if (Object.keys(told.writes.own).length > 0) context['step_values'] = told.writes.own
  const meta: JsonObject = { visit: number, routed: told.routed, duration_ms: durationMs(data) }
  if (told.isHandled) meta['handled'] = true
  if (finish.answerId !== undefined) meta['answer'] = finish.answerId
  const { reference, data: given } = finish.answer
  const said =
    finish.answerId === undefined ? resultWith(status, finish.stored ?? given, reference) : { result: { status } }
  const message = data.error?.['message']
  emit(board, {
    eventType: 'step.exit',
    nodeName: step.name,
    nodeType: step.tool.kind,
    status,
    context,
    meta,
    ...said,
    ...(typeof message === 'string' ? { error: message } : {}),
  })
}

/** Targets of arcs that were not taken, never entered, and out of reach of everything that is under way. */
function markNotTaken(board: Board, live: LiveVisit, arcs: readonly ArcPlan[]): void {
  const targets = new Set(arcs.flatMap(({ target }) => target ?? []))
  for (const target of [...targets].sort((a, b) => a - b)) {
    if (board.visitCount(target) > 0 || board.isNotTaken(target) || target === board.plan.finalStep) continue
    if (isReachable(board, target)) continue
    board.markNotTaken(target)
    emitNotTaken(board, target, live.step.name)
  }
}

function isReachable(board: Board, target: number): boolean {
  const { graph } = board.plan
  for (const index of board.live.keys()) if (graph.reaches(index, target)) return true
  return board.arrivals.some(({ target: other }) => other === target || graph.reaches(other, target))
}
