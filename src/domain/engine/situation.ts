// The board as the rule of readiness sees it.

import type { Board } from './board.js'
import { blockersOf, nextReady, type Situation } from './ready.js'

export function situationOf(board: Board): {
  next(preferred: readonly number[]): number | undefined
  blockersOf(target: number): number[]
} {
  const situation: Situation = {
    isLive: (step) => board.live.has(step),
    liveSteps: () => board.live.keys(),
    arrivals: board.arrivals,
    holdsBack: (other, target) => board.plan.graph.holdsBack(other, target),
  }
  return {
    next: (preferred) => (board.arrivals.length === 0 ? undefined : nextReady(situation, preferred)),
    blockersOf: (target) => [...blockersOf(situation, target)],
  }
}
