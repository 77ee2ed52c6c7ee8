// Time as a dependency. Durations and ids use this clock; leases never do: they are judged by the database.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds from an arbitrary start that never go backwards. */
  monotonic(): number
  /** Resolves after ms, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}
