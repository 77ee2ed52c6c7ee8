// How many commands run at a time. A command that only waits for something lends its slot to others and queues for one
// again afterwards; whoever queues first is served first.

export class Slots {
  private taken = 0
  private readonly queue: (() => void)[] = []
  private readonly watchers: (() => void)[] = []

  constructor(readonly size: number) {}

  free(): number {
    return Math.max(0, this.size - this.taken - this.queue.length)
  }

  inUse(): number {
    return this.taken
  }

  async take(): Promise<void> {
    if (this.taken < this.size) this.taken += 1
    else await new Promise<void>((resolve) => this.queue.push(resolve))
  }

  give(): void {
    const next = this.queue.shift()
    // The slot goes from one hand to the next.
    if (next !== undefined) next()
    else {
      this.taken -= 1
      for (const watcher of this.watchers.splice(0)) watcher()
    }
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.give()
    try {
      return await work()
    } finally {
      await this.take()
    }
  }

  /** Resolves when a slot may be free, or when the signal aborts. */
  async untilFree(signal: AbortSignal): Promise<void> {
    if (this.free() > 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
      this.watchers.push(done)
    })
  }
}
