// When a step that was routed to may be entered: when nothing that is under way can still lead to it, except around a loop
// that it is part of. There is no counting of upstreams, so branches that ended or were skipped never block a join.

/** What was routed to a step and not yet entered by it. */
export interface Arrived {
  readonly source: number
  readonly arc: number
  readonly target: number
}

export interface Situation {
  isLive(step: number): boolean
  /** Entered and not left. */
  liveSteps(): Iterable<number>
  /** In the order in which they arrived. */
  readonly arrivals: readonly Arrived[]
  holdsBack(other: number, target: number): boolean
}

export function isReady(situation: Situation, target: number): boolean {
  if (situation.isLive(target)) return false
  const own = situation.arrivals.filter((arrival) => arrival.target === target)
  if (own.length === 0) return false
  // Somebody has come around again: the first arrival waits for nobody any more.
  if (arcsOf(own).size < own.length) return true
  return blockersOf(situation, target).next().done === true
}

/** Steps that are under way and may still lead to this one. */
export function* blockersOf(situation: Situation, target: number): Generator<number> {
  for (const step of situation.liveSteps()) if (situation.holdsBack(step, target)) yield step
  const seen = new Set<number>()
  for (const { target: other } of situation.arrivals) {
    if (other === target || seen.has(other)) continue
    seen.add(other)
    if (situation.holdsBack(other, target)) yield other
  }
}

/** The arrivals that an entry consumes: of each arc the oldest. */
export function consumedBy<T extends Arrived>(arrivals: readonly T[], target: number): T[] {
  const oldest = new Map<string, T>()
  for (const arrival of arrivals) {
    if (arrival.target === target && !oldest.has(arcKey(arrival))) oldest.set(arcKey(arrival), arrival)
  }
  return [...oldest.values()]
}

/**
 * The step to be entered next, of those preferred if one of them is ready. When nothing is live and every arrival waits
 * for another one, the first step of the document goes on, so that an execution never stands still.
 */
export function nextReady(situation: Situation, preferred: readonly number[]): number | undefined {
  const arrived = [...new Set(situation.arrivals.map(({ target }) => target))].sort((a, b) => a - b)
  const candidates = [...preferred.filter((step) => arrived.includes(step)), ...arrived]
  const ready = candidates.find((step) => isReady(situation, step))
  if (ready !== undefined || situation.liveSteps()[Symbol.iterator]().next().done !== true) return ready
  return arrived[0]
}

function arcsOf(arrivals: readonly Arrived[]): Set<string> {
  return new Set(arrivals.map(arcKey))
}

function arcKey({ source, arc }: Arrived): string {
  return `${source}/${arc}`
}
