// What a driven execution has grown by in one transaction, so that whoever holds its state need not read the log for it.
import type { NumberedEvent } from '../../stores/events/eventStore.js'

export interface LogNews {
  executionId: string
  /** The version of the engine that drives it. */
  engine: number
  /** The number of the last event before them, and that event, as far as the read model knows it. */
  afterVersion: number
  mark: string | undefined
  /** W3C trace context as JSON text, of the last one that has one. */
  trace?: string | undefined
  /** It follows from what the state was shown before, in the same transaction. */
  isDecision?: true
  /** The state was shown them before they were committed. */
  isShown?: true
  /** In the order of their numbers, which follow each other. */
  rows: NumberedEvent[]
}
