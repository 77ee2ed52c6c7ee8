// The end of a live visit, whichever kind of step it is.

import type { Board, LiveVisit } from './board.js'
import { finishCursor } from './cursorLoop.js'
import { type Finish, finishPlain } from './finish.js'
import { finishList } from './listLoop.js'

export function finishOf(board: Board, live: LiveVisit): Finish | undefined {
  const { loop } = live.step
  if (loop === undefined) return finishPlain(board, live)
  return loop.mode === 'cursor' ? finishCursor(board, live, loop) : finishList(board, live, loop)
}
