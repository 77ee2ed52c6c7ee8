// Enters steps that were routed to, as far as they are ready. Visits that end at once (skipped, native, empty loops) lead
// straight on, up to a bound per decision; what is left over is found ready by the next one.

import type { ArrivalOnBoard, Board } from './board.js'
import { enterStep } from './enterStep.js'
import { exitVisit, skipVisit } from './exitVisit.js'
import { consumedBy } from './ready.js'
import { situationOf } from './situation.js'

/** Those preferred first, in their order, then the others in document order. */
export function enterReady(board: Board, preferred: readonly number[]): void {
  const queue = [...preferred]
  while (!board.isStopped && board.quickVisitsLeft > 0) {
    const next = situationOf(board).next(queue)
    if (next === undefined) return
    queue.push(...enterOne(board, next, consumedBy(board.arrivals, next)))
  }
}

/** Enters this one, whatever else is ready, and goes on from there. */
export function enterThen(
  board: Board,
  step: number,
  arrivals: readonly ArrivalOnBoard[],
  options: { isFinal?: boolean } = {},
): void {
  enterReady(board, enterOne(board, step, arrivals, options))
}

/** Answers where it led to, if it ended at once. */
function enterOne(
  board: Board,
  step: number,
  arrivals: readonly ArrivalOnBoard[],
  options: { isFinal?: boolean } = {},
): number[] {
  const entered = enterStep(board, step, arrivals, options)
  if (entered.type === 'under way') return []
  board.quickVisitsLeft -= 1
  return entered.type === 'finished'
    ? exitVisit(board, entered.live, entered.finish)
    : skipVisit(board, entered.live, entered.reason)
}
