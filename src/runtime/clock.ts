// Time as a dependency. Durations and ids use this clock; leases never do: they are judged by the database.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds from an arbitrary start that never go backwards. */
  monotonic(): number
  /**
   * Resolves after ms, or at once when one of the signals aborts; never rejects. Signals are listened to one by one:
   * the platform's way to join them leaves something behind in each for as long as it lives, and a daemon sleeps for months.
   */
  sleep(ms: number, ...signals: readonly AbortSignal[]): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, ...signals) =>
    new Promise((resolve) => {
      if (signals.some(({ aborted }) => aborted)) return resolve()
      const done = () => {
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      for (const signal of signals) signal.addEventListener('abort', done, { once: true })
    }),
}
