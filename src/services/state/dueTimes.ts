// When to look at each execution again, in steps of a quarter of a second. Setting and taking cost the same
// however many there are.

const STEP_MS = 250

export interface DueTimes {
  set(id: string, atMs: number): void
  delete(id: string): void
  /** Up to `max` that are due; they are no longer in here. */
  take(nowMs: number, max: number): string[]
  size(): number
  /** The earliest; undefined when there is none. */
  next(): number | undefined
}

export function createDueTimes(): DueTimes {
  const steps = new Map<number, Set<string>>()
  const stepOf = new Map<string, number>()

  function remove(id: string): void {
    const step = stepOf.get(id)
    if (step === undefined) return
    stepOf.delete(id)
    const set = steps.get(step)!
    set.delete(id)
    if (set.size === 0) steps.delete(step)
  }

  const earliest = (): number | undefined => {
    let least: number | undefined
    for (const step of steps.keys()) if (least === undefined || step < least) least = step
    return least
  }

  return {
    set: (id, atMs) => {
      remove(id)
      const step = Math.ceil(atMs / STEP_MS)
      stepOf.set(id, step)
      const set = steps.get(step)
      if (set === undefined) steps.set(step, new Set([id]))
      else set.add(id)
    },
    delete: remove,
    take: (nowMs, max) => {
      const taken: string[] = []
      while (taken.length < max) {
        const step = earliest()
        if (step === undefined || step * STEP_MS > nowMs) break
        for (const id of steps.get(step)!) {
          if (taken.length >= max) break
          taken.push(id)
          remove(id)
        }
      }
      return taken
    },
    size: () => stepOf.size,
    next: () => {
      const step = earliest()
      return step === undefined ? undefined : step * STEP_MS
    },
  }
}
