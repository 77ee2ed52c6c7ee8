// What step.enter and step.exit of a decision say, as facts of a visit. Read from where domain/engine/events.ts puts it.

import { canonicalJson } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import type { ArrivalPlace, ExitFact, VisitEnter } from './drivenState.js'
import { objectAt, own, type WorkflowEvent, wholeNumberAt } from './workflowEvent.js'
import type { Fact } from './workflowState.js'

export function enterFact(event: WorkflowEvent, fact: Fact): VisitEnter {
  const context = objectAt(event.context)
  const enter: VisitEnter = { ...fact }
  const from = placesIn(objectAt(event.meta)['consumed'])
  if (from.length > 0) enter.from = from
  const expected = wholeNumberAt(context, 'iterations_expected')
  if (expected !== undefined) enter.expected = expected
  const items = own(context, 'items')
  if (Array.isArray(items)) enter.items = canonicalJson(items)
  const itemsRef = own(context, 'items_ref')
  if (typeof itemsRef === 'string') enter.itemsRef = itemsRef
  const maxInFlight = wholeNumberAt(context, 'max_in_flight')
  if (maxInFlight !== undefined) enter.maxInFlight = maxInFlight
  if (own(context, '__cursor_loop') === true) {
    const maxRows = wholeNumberAt(context, 'max_rows') ?? 1
    const rowConcurrency = wholeNumberAt(context, 'row_concurrency') ?? 1
    const maxAttempts = wholeNumberAt(context, 'max_attempts') ?? 1
    enter.cursor = { maxRows, rowConcurrency, maxAttempts }
  }
  if (own(objectAt(event.meta), 'final') === true) enter.final = true
  return enter
}

export function exitFact(event: WorkflowEvent, fact: Fact): ExitFact {
  const context = objectAt(event.context)
  const meta = objectAt(event.meta)
  const result = objectAt(event.result)
  const exit: ExitFact = { ...fact, status: result['status'] === 'FAILED' ? 'FAILED' : 'COMPLETED' }
  if (own(meta, 'handled') === true) exit.handled = true
  const error = own(context, 'error')
  if (error !== undefined) exit.error = canonicalJson(error)
  const written = own(context, 'step_values')
  if (written !== undefined) exit.own = canonicalJson(written)
  const answer = own(meta, 'answer')
  if (typeof answer === 'string') exit.answer = answer
  const reference = own(result, 'reference')
  if (reference !== undefined) exit.reference = canonicalJson(reference)
  const data = objectAt(result, 'context')
  if (Object.hasOwn(data, 'data')) exit.result = canonicalJson(data['data'] ?? null)
  return exit
}

export function placesIn(list: JsonValue | undefined): ArrivalPlace[] {
  if (!Array.isArray(list)) return []
  const places: ArrivalPlace[] = []
  for (const item of list) {
    const one: JsonObject = objectAt(item)
    const step = own(one, 'step')
    const visit = wholeNumberAt(one, 'visit')
    const arc = wholeNumberAt(one, 'arc')
    if (typeof step === 'string' && visit !== undefined && arc !== undefined) places.push({ step, visit, arc })
  }
  return places
}
