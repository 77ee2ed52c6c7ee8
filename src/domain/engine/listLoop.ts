// A step with a loop over a list. The list is evaluated once, when the step is entered; items are issued in order, never
// more at a time than allowed. In a sequential loop each item sees what the one before has written.

import { parseJson } from '../json/parse.js'
import { type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { ListLoop } from '../playbook/plan.js'
import type { VisitEnter } from '../state/drivenState.js'
import { TemplateError } from '../template/templateError.js'
import { memoByFact } from './answer.js'
import { assignUpdates, noWrites } from './assign.js'
import type { Board, LiveVisit } from './board.js'
import { emitEnter, emitWrites } from './emit.js'
import { type EngineContext, enterContext, itemLocals } from './engineContext.js'
import { engineError, errorObject, messageOf, StepFailure } from './engineError.js'
import { commandEnd, endedAtOnce, type Finish, laterId } from './finish.js'
import { issueBody } from './issue.js'
import { largeItems } from './largeParts.js'
import { partOf, storedParts } from './loopParts.js'
import { requireValues } from './references.js'
import { renderCount } from './render.js'
import { QUICK_VISITS_MAX } from './settings.js'

/** Answers the end of the visit when there is nothing to do. */
export function enterList(board: Board, live: LiveVisit, loop: ListLoop): Finish | undefined {
  const place = enterContext(board, live.arrivals)
  const items = itemsOf(live, loop, place)
  const maxInFlight =
    loop.mode === 'sequential'
      ? 1
      : loop.maxInFlight === undefined
        ? board.input.settings.loopInFlight
        : renderCount(loop.maxInFlight, place, `${loop.pointer}/spec/max_in_flight`)
  const large = largeItems(items)
  const context: JsonObject = {
    iterations_expected: items.length,
    iterator_var: loop.iterator,
    mode: loop.mode,
    max_in_flight: maxInFlight,
  }
  emitEnter(board, live, large === undefined ? { ...context, items } : context, large)
  if (items.length === 0) return { ...endedAtOnce(null, null, { iterations: 0 }), ...loopData([], [], 0) }
  issueItems(board, live, loop, items, { from: 0, room: maxInFlight })
  return undefined
}

function itemsOf({ step }: LiveVisit, { list, source }: ListLoop, context: EngineContext): JsonValue[] {
  requireValues(context, list.tree.templates)
  try {
    return list.items(context)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const expression = typeof source === 'string' ? source : JSON.stringify(source)
    const why = error.why.replace(/^the list is /, 'is ')
    throw new StepFailure(engineError('template', `loop of step "${step.name}": ${expression} ${why}`))
  }
}

const storedItems = memoByFact((enter: VisitEnter): JsonValue[] => parseJson(enter.items ?? '[]') as JsonValue[])

function itemsIn(board: Board, enter: VisitEnter): JsonValue[] {
  if (enter.itemsRef === undefined) return storedItems(enter)
  const stored = board.fetched(enter.itemsRef)
  if (!Array.isArray(stored)) throw new Error(`the items stored under ${enter.itemsRef} are gone`)
  return stored
}

/** The index of the next item to be issued, if one may be. */
export function nextItem(board: Board, live: LiveVisit, loop: ListLoop): number | undefined {
  const { visit } = live
  const { open, ok, failed } = visit.tally
  const issued = open.size + ok + failed
  if (!board.mayIssue(live)) return undefined
  if (loop.failureMode === 'fail_fast' && failedItems(board, live) > 0) return undefined
  const { expected = 0, maxInFlight = 1 } = visit.enter as VisitEnter
  return issued < expected && open.size < maxInFlight ? issued : undefined
}

export function issueMoreItems(board: Board, live: LiveVisit, loop: ListLoop, from: number): void {
  const { visit } = live
  const enter = visit.enter as VisitEnter
  if (loop.mode === 'sequential') {
    const before = visit.commands.get(`i${from - 1}`)
    const end = before === undefined ? undefined : commandEnd(before, board.input.settings)
    const writes = noWrites()
    if (end !== undefined) assignUpdates(board, end.answer.updates, writes)
    emitWrites(board, live, writes, end?.id)
  }
  issueItems(board, live, loop, itemsIn(board, enter), { from, room: (enter.maxInFlight ?? 1) - visit.tally.open.size })
}

function issueItems(
  board: Board,
  live: LiveVisit,
  loop: ListLoop,
  items: readonly JsonValue[],
  { from, room }: { from: number; room: number },
): void {
  const { tool } = live.step
  // What the engine runs itself is over at once and takes no room, but a decision has a bound.
  const isNative = tool.native?.type === 'noop' && board.input.settings.nativeNoop
  const to = Math.min(items.length, from + (isNative ? QUICK_VISITS_MAX : room))
  for (let index = from; index < to; index++) {
    const item = items[index] as JsonValue
    const locals = itemLocals(loop.iterator, item, index, items.length)
    const slot = {
      suffix: `i${index}`,
      index,
      meta: {
        iteration_index: index,
        iteration_total: items.length,
        iterator_step: live.step.name,
        item_var: loop.iterator,
      },
    }
    const isGood = issueBody(board, live, tool, slot, locals, bodyVariables(loop.iterator, item, index, items.length))
    if (!isGood && loop.failureMode === 'fail_fast') return
  }
}

/** What every body finds among its arguments. */
export function bodyVariables(variable: string, item: JsonValue, index: number, total: number): JsonObject {
  const locals = itemLocals(variable, item, index, total)
  const iter = locals.get('iter')?.() as JsonObject
  const variables: JsonObject = { iter, _index: index, _total: total }
  setKey(variables, variable, item)
  return variables
}

function failedItems(board: Board, { visit }: LiveVisit): number {
  if (visit.tally.failed === 0 || board.input.settings.toolErrors === 'strict') return visit.tally.failed
  let failed = 0
  for (const command of visit.commands.values()) {
    if (commandEnd(command, board.input.settings)?.error !== undefined) failed += 1
  }
  return failed
}

/** All items have ended; or nothing is issued any more and what was issued has ended. */
export function finishList(board: Board, live: LiveVisit, loop: ListLoop): Finish | undefined {
  const { visit, step } = live
  const { open, ok, failed } = visit.tally
  const { expected = 0 } = visit.enter as VisitEnter
  if (open.size > 0 || ok + failed === 0) return undefined
  if (ok + failed < expected && nextItem(board, live, loop) !== undefined) return undefined
  const results: JsonValue[] = []
  const errors: { index: number; error: JsonObject }[] = []
  const updates: JsonObject[] = []
  const parts: JsonObject[] = []
  let endId: string | undefined
  for (let index = 0; index < ok + failed; index++) {
    const command = visit.commands.get(`i${index}`)
    const end = command && commandEnd(command, board.input.settings)
    if (end === undefined) return undefined
    endId = laterId(endId, end.id)
    const { data, reference } = end.answer
    // What is stored elsewhere keeps its small parts, which is what most readers want of it.
    results.push(reference === undefined ? data : { _ref: reference.ref, ...reference.extracted })
    if (reference !== undefined) parts.push(partOf(index, reference))
    // In a sequential loop the others were written when the next one was issued.
    if (loop.mode === 'parallel' || index === ok + failed - 1) updates.push(end.answer.updates)
    if (end.error !== undefined) errors.push({ index, error: errorObject(end.error, 'it failed without a reason') })
  }
  const [first] = errors
  const message = first && `iteration ${first.index} of step "${step.name}": ${messageOf(first.error)}`
  return {
    endId,
    error: first === undefined ? null : { ...first.error, message: message as string },
    ...loopData(results, errors, expected, parts),
    answerId: undefined,
    updates,
    attempt: 1,
    context: { iterations: expected, completed: ok + failed - errors.length, failed: errors.length },
  }
}

function loopData(
  results: JsonValue[],
  errors: readonly { index: number; error: JsonObject }[],
  expected: number,
  parts: readonly JsonObject[] = [],
): Pick<Finish, 'answer' | 'stored'> {
  const failed = errors.length
  const stats = { total: expected, success: results.length - failed, failed, skipped: expected - results.length }
  const stored = { results, stats, errors: errors.map(({ index, error }) => ({ index, error })) }
  return {
    answer: { data: { data: results, ...stored }, reference: undefined },
    stored: { ...stored, ...storedParts(parts) },
  }
}
