// One answer for everybody who asks within a while, made once at a time. A failure is nobody else's answer.
import type { Clock } from './clock.js'

export interface SharedAnswer<T> {
  value: T
  /** Milliseconds since 1970. */
  madeAt: number
}

export function sharedAnswer<T>(
  clock: Pick<Clock, 'now' | 'monotonic'>,
  ageMs: number,
  make: () => Promise<T>,
): () => Promise<SharedAnswer<T>> {
  let last: { answer: Promise<SharedAnswer<T>>; until: number } | undefined
  return () => {
    if (last !== undefined && clock.monotonic() < last.until) return last.answer
    const mine = {
      // For as long as it is being made it is the one that all wait for.
      until: Number.POSITIVE_INFINITY,
      answer: make().then((value) => {
        mine.until = clock.monotonic() + ageMs
        return { value, madeAt: clock.now() }
      }),
    }
    mine.answer.catch(() => {
      if (last === mine) last = undefined
    })
    last = mine
    return mine.answer
  }
}
