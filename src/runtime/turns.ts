// Cuts long work on the main loop into turns, so that other work runs in between.
import { setImmediate } from 'node:timers/promises'

const TURN_MS = 8

export interface Turns {
  /** To be awaited between two pieces of the work; costs nothing while the turn lasts. */
  rest(): Promise<void> | undefined
}

export function createTurns(turnMs = TURN_MS): Turns {
  let since = performance.now()
  return {
    rest: () => {
      if (performance.now() - since < turnMs) return undefined
      return setImmediate().then(() => {
        since = performance.now()
      })
    },
  }
}
