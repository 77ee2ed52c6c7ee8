// News from which nothing follows: their state may be shown them later, together with what does lead on.
import { canonicalEventType } from '../../domain/events/eventType.js'
import type { LogNews } from '../events/logNews.js'

const REPORTS_OF_WORK: ReadonlySet<string> = new Set(['command.claimed', 'command.started', 'command.heartbeat'])

/** The execution goes from one step to the next and a worker has the word, or workers report that they work. */
export function isQuiet({ isDecision, rows }: LogNews): boolean {
  if (isDecision === true) return rows.filter(({ event }) => event.eventType === 'command.issued').length === 1
  return rows.every(({ event }) => REPORTS_OF_WORK.has(canonicalEventType(event.eventType)))
}
