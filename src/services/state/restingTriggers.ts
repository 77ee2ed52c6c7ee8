// Triggers that can wait. Of states that nobody decides by: whoever looks at such a state brings it up to date by looking;
// following it only keeps that short and its snapshots coming, so a storm of single events costs one round per second instead of
// one per event. And of states from whose news nothing follows: the answer of a worker may be here in a moment, and is
// shown to them together with what came before it.

export interface RestingTriggers {
  add(executionId: string): void
  remove(executionId: string): void
  close(): void
}

/** Each rests for `restMs` at least, and for twice as long at most: one timer serves all. */
export function createRestingTriggers(release: (executionId: string) => void, restMs: number): RestingTriggers {
  let older = new Set<string>()
  let newer = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  const waitOn = (): void => {
    timer ??= setTimeout(wake, restMs).unref()
  }

  function wake(): void {
    timer = undefined
    const rested = older
    older = newer
    newer = new Set()
    if (older.size > 0) waitOn()
    for (const id of rested) release(id)
  }

  return {
    add: (executionId) => {
      if (!older.has(executionId)) newer.add(executionId)
      waitOn()
    },
    remove: (executionId) => {
      older.delete(executionId)
      newer.delete(executionId)
    },
    close: () => {
      clearTimeout(timer)
      timer = undefined
      older.clear()
      newer.clear()
    },
  }
}
