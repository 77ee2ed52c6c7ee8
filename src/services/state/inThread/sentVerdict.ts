// A verdict on its way out of the thread. What threads hand over is copied without its types, and a float like 3.0 has one
// of its own: the events of a decision travel as JSON text.

import { parseJson } from '../../../domain/json/parse.js'
import type { JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import type { Decision, EmittedEvent, Needing, Verdict, Waiting } from '../../../domain/state/orchestrator.js'

export type SentDecision = Omit<Decision, 'events'> & { events: string }
export type SentVerdict = SentDecision | Waiting | Needing

export function sendVerdict(verdict: Verdict | undefined): SentVerdict | undefined {
  if (verdict === undefined || !('key' in verdict)) return verdict
  return { ...verdict, events: writeJson(verdict.events as unknown as JsonValue) }
}

export function receiveDecision(sent: SentDecision): Decision {
  return { ...sent, events: parseJson(sent.events) as unknown as EmittedEvent[] }
}
