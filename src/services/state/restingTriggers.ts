// Triggers that can wait. Of states that nobody decides by: whoever looks at such a state brings it up to date by looking;
// following it only keeps that short and its snapshots coming, so a storm of single events costs one round per second instead of
// one per event. And of states that have just decided what a worker does next: its answer may be here in a moment, and is
// shown to them with the decision.

export interface RestingTriggers {
  add(executionId: string): void
  remove(executionId: string): void
  close(): void
}

export function createRestingTriggers(release: (executionId: string) => void, restMs: number): RestingTriggers {
  const resting = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function wake(): void {
    timer = undefined
    const ids = [...resting]
    resting.clear()
    for (const id of ids) release(id)
  }

  return {
    add: (executionId) => {
      resting.add(executionId)
      timer ??= setTimeout(wake, restMs).unref()
    },
    remove: (executionId) => {
      resting.delete(executionId)
    },
    close: () => {
      clearTimeout(timer)
      timer = undefined
      resting.clear()
    },
  }
}
