// How many of one kind run at a time. Whoever comes first is served first; a wait ends with its signal.

export class Places {
  private taken = 0
  private readonly queue: (() => void)[] = []

  constructor(private readonly max: number) {}

  /** Answers how to give the place back. Throws the reason of the signal. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.taken < this.max) this.taken += 1
    else await this.wait(signal)
    return () => this.give()
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const served = (): void => {
        signal.removeEventListener('abort', left)
        resolve()
      }
      const left = (): void => {
        this.queue.splice(this.queue.indexOf(served), 1)
        reject(signal.reason)
      }
      this.queue.push(served)
      signal.addEventListener('abort', left, { once: true })
    })
  }

  private give(): void {
    const next = this.queue.shift()
    // The place goes from one hand to the next.
    if (next !== undefined) next()
    else this.taken -= 1
  }
}
