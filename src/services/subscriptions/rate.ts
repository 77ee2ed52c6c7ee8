// Limits starts per second. What was not used within the last second is lost, so a burst is at most one second's worth.
import type { Clock } from '../../runtime/clock.js'

export interface Rate {
  /** How many of `count` may go now. */
  take(count: number): number
  /** Until the next one may go. */
  waitMs(): number
  /** `count` of those taken did not start anything after all. */
  giveBack(count: number): void
  /** As many as one second allows. */
  burst(): number
  /** As many as may go within a time; at least one. */
  within(ms: number): number
}

export function createRate(perSecond: number | undefined, clock: Clock): Rate {
  if (perSecond === undefined) {
    const all = (): number => Number.POSITIVE_INFINITY
    return { take: (count) => count, waitMs: () => 0, giveBack: () => undefined, burst: all, within: all }
  }
  const size = Math.max(1, perSecond)
  let tokens = size
  let at = clock.monotonic()
  const refill = (): void => {
    const now = clock.monotonic()
    tokens = Math.min(size, tokens + ((now - at) / 1000) * perSecond)
    at = now
  }
  return {
    take: (count) => {
      refill()
      const taken = Math.min(count, Math.floor(tokens))
      tokens -= taken
      return taken
    },
    waitMs: () => {
      refill()
      return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * 1000
    },
    giveBack: (count) => {
      tokens = Math.min(size, tokens + count)
    },
    burst: () => Math.floor(size),
    within: (ms) => Math.max(1, Math.floor((perSecond * ms) / 1000)),
  }
}
