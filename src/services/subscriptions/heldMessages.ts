// The messages that a driver holds, waiting or being started. One that is held for longer than a part of `ack_wait` is
// reported to the server as in progress, again and again. Otherwise it would be delivered a second time; that copy would
// be recognised, but takes a place in every limit.
import type { SourceMessage } from '../../bus/sourceMessage.js'

export interface HeldMessages {
  push(message: SourceMessage): void
  /** Back to the front, in order. */
  putBack(messages: readonly SourceMessage[]): void
  /** Takes up to `count` that wait; they count as being started until `done`. */
  take(count: number): SourceMessage[]
  done(messages: readonly SourceMessage[]): void
  waiting(): number
  size(): number
  /** How long the server waits for an answer. */
  setAckWait(ms: number): void
  close(): void
}

// Two announcements may be lost before the server gives up on the third.
const PARTS = 4

export function createHeldMessages(): HeldMessages {
  const queue: SourceMessage[] = []
  const starting = new Set<SourceMessage>()
  let timer: NodeJS.Timeout | undefined

  function announce(): void {
    for (const message of queue) message.working()
    for (const message of starting) message.working()
  }

  return {
    push: (message) => {
      queue.push(message)
    },
    putBack: (messages) => {
      queue.unshift(...messages)
    },
    take: (count) => {
      const taken = queue.splice(0, count)
      for (const message of taken) starting.add(message)
      return taken
    },
    done: (messages) => {
      for (const message of messages) starting.delete(message)
    },
    waiting: () => queue.length,
    size: () => queue.length + starting.size,
    setAckWait: (ms) => {
      clearInterval(timer)
      timer = setInterval(announce, Math.max(1, ms / PARTS))
    },
    close: () => clearInterval(timer),
  }
}
