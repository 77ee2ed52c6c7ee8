// A set of visit numbers. Visits are numbered 1, 2, 3 … and end almost in that order, so nearly all of them are told by
// one number, however many there were.

export interface VisitSet {
  /** All visits from 1 to this one are in the set. */
  upTo: number
  /** Those above it that are in the set as well. */
  beyond: Set<number>
}

export function emptyVisitSet(): VisitSet {
  return { upTo: 0, beyond: new Set() }
}

export function hasVisit(set: VisitSet, visit: number): boolean {
  return visit <= set.upTo || set.beyond.has(visit)
}

export function addVisit(set: VisitSet, visit: number): void {
  if (hasVisit(set, visit)) return
  set.beyond.add(visit)
  while (set.beyond.delete(set.upTo + 1)) set.upTo += 1
}
