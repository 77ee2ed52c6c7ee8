// Triggers of states that nobody decides by. Whoever looks at such a state brings it up to date by looking; following
// it only keeps that short and its snapshots coming. So its triggers are gathered, and a storm of single events costs one
// round per second instead of one per event.

export interface RestingTriggers {
  add(executionId: string): void
  close(): void
}

const REST_MS = 1_000

export function createRestingTriggers(release: (executionId: string) => void, restMs = REST_MS): RestingTriggers {
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
    close: () => {
      clearTimeout(timer)
      timer = undefined
      resting.clear()
    },
  }
}
