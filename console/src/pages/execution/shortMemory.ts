// Whether the daemon has not the memory to keep a long log as close at hand as others, and what a jump costs then.

/** As the daemon has it: how far the states that it keeps are apart, and what the last jump has cost. */
export interface JumpCost {
  distance: number
  folded: number
  foldedMs: number
}

/** States are kept for every thousandth event, or for every hundredth part of a longer log. */
const DISTANCE_MIN = 1_000
const PARTS = 100
/** Fewer events tell nothing about many. */
const TELLING = 100

/** Events that a jump may have to fold, and how long that takes if it is known; undefined: memory is not short. */
export function shortMemory(
  { distance, folded, foldedMs }: JumpCost,
  total: number,
): { events: number; ms: number | undefined } | undefined {
  // A log that has grown since may have them nearer, never twice as far.
  if (distance < 2 * Math.max(DISTANCE_MIN, Math.ceil(total / PARTS))) return undefined
  return { events: distance, ms: folded < TELLING ? undefined : (foldedMs / folded) * distance }
}
