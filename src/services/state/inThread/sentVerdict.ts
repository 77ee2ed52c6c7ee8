// A verdict on its way out of the thread. What threads hand over is copied without its types, and a float like 3.0 has one
// of its own: the events of a decision travel as JSON texts, one each, because short ones are read faster. Large parts travel
// beside them, and are not read on the way.

import { parseJson } from '../../../domain/json/parse.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import type {
  Decision,
  EmittedEvent,
  LargePart,
  Needing,
  Verdict,
  Waiting,
} from '../../../domain/state/orchestrator.js'

export type SentDecision = Omit<Decision, 'events'> & {
  events: readonly string[]
  /** The texts of large parts, by the place of their event. */
  large: ReadonlyMap<number, string>
}
export type SentVerdict = SentDecision | Waiting | Needing

export function sendVerdict(verdict: Verdict | undefined): SentVerdict | undefined {
  if (verdict === undefined || !('key' in verdict)) return verdict
  const large = new Map<number, string>()
  const events = verdict.events.map((event, index) => {
    if (event.large === undefined) return textOf(event)
    large.set(index, event.large.text)
    return textOf({ ...event, large: { ...event.large, text: '' } })
  })
  return { ...verdict, events, large }
}

const textOf = (event: EmittedEvent): string => writeJson(event as unknown as JsonValue)

export function receiveDecision({ large, ...sent }: SentDecision): Decision {
  const events = sent.events.map((text) => parseJson(text) as unknown as EmittedEvent)
  for (const [index, text] of large) (events[index]!.large as LargePart).text = text
  return { ...sent, events }
}
