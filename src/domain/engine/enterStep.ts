// Entering a step: its guards, then the first commands of the visit. What cannot begin (a guard or a configuration that
// does not render) is entered and fails at once, so that its failure takes the same way as any other.

import { emptyVisit } from '../state/drivenState.js'
import type { ArrivalOnBoard, Board, LiveVisit } from './board.js'
import { enterCursor } from './cursorLoop.js'
import { emitEnter } from './emit.js'
import { type EngineContext, enterContext } from './engineContext.js'
import { StepFailure } from './engineError.js'
import { endedAtOnce, type Finish } from './finish.js'
import { emitCommand, ONLY_COMMAND } from './issue.js'
import { enterList } from './listLoop.js'
import { isMet } from './render.js'
import { renderCommand } from './renderCommand.js'

export type Entered =
  /** Its commands are under way. */
  | { readonly live: LiveVisit; readonly type: 'under way' }
  | { readonly live: LiveVisit; readonly type: 'finished'; readonly finish: Finish }
  | { readonly live: LiveVisit; readonly type: 'skipped'; readonly reason: 'guard' | 'admit' }

export function enterStep(
  board: Board,
  index: number,
  arrivals: readonly ArrivalOnBoard[],
  options: { isFinal?: boolean } = {},
): Entered {
  const step = board.stepAt(index)
  const number = board.visitCount(index) + 1
  const { maxVisits } = board.input.settings
  if (number > maxVisits) throw new Error(`step "${step.name}" was entered more than ${maxVisits} times`)
  const visit = emptyVisit()
  visit.enter = { id: '', at: board.now }
  const live: LiveVisit = { step, number, visit, arrivals, isFinal: options.isFinal === true }
  board.arrivals = board.arrivals.filter((arrival) => !arrivals.includes(arrival))
  board.enter(live)
  const mark = { events: board.events.length, commands: board.commands.length }
  try {
    const reason = refusal(live, enterContext(board, arrivals))
    return reason === undefined ? begin(board, live) : { live, type: 'skipped', reason }
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    board.events.length = mark.events
    board.commands.length = mark.commands
    emitEnter(board, live, {})
    return { live, type: 'finished', finish: endedAtOnce(null, error.error) }
  }
}

function refusal({ step }: LiveVisit, context: EngineContext): 'guard' | 'admit' | undefined {
  for (const { when, allow } of step.admit) {
    if (when !== undefined && !isMet(when, context, step.pointer)) continue
    if (!allow) return 'admit'
    break
  }
  return step.when === undefined || isMet(step.when, context, `${step.pointer}/when`) ? undefined : 'guard'
}

function begin(board: Board, live: LiveVisit): Entered {
  const { loop, tool } = live.step
  if (loop?.mode === 'cursor') {
    enterCursor(board, live, loop)
    return { live, type: 'under way' }
  }
  if (loop !== undefined) {
    const finish = enterList(board, live, loop)
    return finish === undefined ? { live, type: 'under way' } : { live, type: 'finished', finish }
  }
  const rendered = renderCommand(board, live, tool)
  emitEnter(board, live, { args: Object.keys(rendered.args) })
  emitCommand(board, live, tool, ONLY_COMMAND, rendered)
  const { handling } = rendered
  if (handling.type !== 'native') return { live, type: 'under way' }
  return { live, type: 'finished', finish: endedAtOnce(handling.data, null) }
}
