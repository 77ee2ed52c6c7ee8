// Estimates the time of another host from our own monotonic counter. An answer that carries its time was given after
// we asked and before we received it, which bounds the estimate. The estimate moves only when an answer contradicts
// it, so slow answers do not make it jump. Our own wall clock is not used.

export interface RemoteClock {
  /** Milliseconds since 1970 there; undefined before the first answer. */
  now(): number | undefined
  /** `remoteMs` was true at some moment between the two readings of `monotonic()`. */
  observe(remoteMs: number, askedAt: number, heardAt: number): void
}

export function createRemoteClock(monotonic: () => number): RemoteClock {
  /** Remote milliseconds minus monotonic ones. */
  let offset: number | undefined
  return {
    now: () => (offset === undefined ? undefined : monotonic() + offset),
    observe: (remoteMs, askedAt, heardAt) => {
      const lowest = remoteMs - heardAt
      const highest = remoteMs - askedAt
      if (offset === undefined || offset < lowest) offset = lowest
      else if (offset > highest) offset = highest
    },
  }
}
