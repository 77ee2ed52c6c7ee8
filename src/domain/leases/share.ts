// The arithmetic of leases: how much a member may hold, how long it may trust what it holds, what it gives back.

/** A member's place among the live members that share the same slots, in the order of their ids. */
export interface Standing {
  members: number
  /** 0 for the first. */
  rank: number
}

/** How many of `slots` a member holds when all share evenly: no two differ by more than one. */
export function fairShare(slots: number, { members, rank }: Standing): number {
  return Math.floor(slots / members) + (rank < slots % members ? 1 : 0)
}

const SAFETY_MS_MAX = 2_000
const SAFETY_PART = 0.25

/**
 * A lease that was asked for at `askedMs` is trusted until 2 s, or 25 % of its length, before it expires: the
 * database's clock decides when it does, and ours only knows when we asked.
 */
export function trustedUntil(askedMs: number, leaseMs: number): number {
  return askedMs + leaseMs - Math.min(SAFETY_MS_MAX, leaseMs * SAFETY_PART)
}

/**
 * Slots that are to be emptied and given back: those beyond the share. Slots on their way out stay so while there are
 * too many; they return to use only when everything that is held fits the share.
 */
export function slotsToLeave(held: readonly number[], leaving: ReadonlySet<number>, share: number): Set<number> {
  if (held.length <= share) return new Set()
  const still = held.filter((slot) => leaving.has(slot))
  const staying = held.filter((slot) => !leaving.has(slot))
  return new Set([...still, ...staying.slice(Math.max(0, share))])
}
