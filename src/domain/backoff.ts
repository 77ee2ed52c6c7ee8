// How long to wait before the next attempt: 1, 2, 4 … 256 seconds by the number of attempts made so far.
// Jitter only shortens, so the table stays an upper bound; randomness comes in as an argument.

export const BACKOFF_STEP_MS = 1_000
export const BACKOFF_DOUBLINGS_MAX = 8
/** The NoETL server's default cap; the table ends below it, a caller may lower it. */
export const BACKOFF_MAX_MS = 300_000

/** The table itself, as the NoETL server's routes promise it. Zero attempts count as one. */
export function backoffCeilingMs(attempts: number, maxMs: number = BACKOFF_MAX_MS): number {
  const doublings = Math.min(BACKOFF_DOUBLINGS_MAX, Math.max(0, Math.trunc(attempts) - 1))
  return Math.max(0, Math.min(maxMs, BACKOFF_STEP_MS * 2 ** doublings))
}

/**
 * Half of the ceiling plus a random part of the other half: rows that failed together come back apart,
 * and none comes back at once. `random` is in [0, 1).
 */
export function delayMs(attempts: number, random: number, maxMs: number = BACKOFF_MAX_MS): number {
  const ceiling = backoffCeilingMs(attempts, maxMs)
  return Math.ceil(ceiling / 2 + (ceiling / 2) * random)
}
