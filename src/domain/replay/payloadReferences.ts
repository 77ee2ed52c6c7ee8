// Every payload reference a folded state holds, in a fixed order: execution, frames, business objects.
// `python` lists entities by first mention; `cp` by id, because first mention does not survive a store.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { firstTruthy, isTruthy, type Maybe, textOrNull } from './coerce.js'
import type { FoldState } from './foldState.js'
import type { FoldProfile } from './profile.js'
import { sortById, sortByText } from './rowOrder.js'

export type PayloadReference =
  | { scope: 'execution'; event_id: JsonValue; reference: JsonValue }
  | { scope: 'frame'; frame_id: JsonValue; event_id: JsonValue; reference: JsonValue }
  | { scope: 'business_object'; object_key: JsonValue; event_id: JsonValue; reference: JsonValue }

export function referencesOf(state: FoldState, profile: FoldProfile): PayloadReference[] {
  const found: PayloadReference[] = []
  const execution = state.head['execution']
  for (const [event_id, reference] of entries(isJsonObject(execution) ? execution['payload_refs'] : null)) {
    found.push({ scope: 'execution', event_id, reference })
  }
  const frames = Array.from(state.maps.frames)
  for (const [key, frame] of profile === 'python' ? frames : sortById(frames, ([id]) => id, profile)) {
    const { output_ref: reference, terminal_event_id: event_id } = frame
    if (reference !== null && reference !== undefined) {
      found.push({ scope: 'frame', frame_id: frame.frame_id ?? key, event_id: event_id ?? null, reference })
    }
  }
  const objects = Array.from(state.maps.business_objects)
  for (const [key, object] of profile === 'python' ? objects : sortByText(objects, ([id]) => id)) {
    for (const [event_id, reference] of entries(object.payload_refs)) {
      found.push({ scope: 'business_object', object_key: object.object_key ?? key, event_id, reference })
    }
  }
  return found
}

function* entries(refs: Maybe): Generator<[eventId: JsonValue, reference: JsonValue]> {
  if (!Array.isArray(refs)) return
  for (const entry of refs) {
    if (!isJsonObject(entry)) continue
    const reference = entry['reference'] ?? null
    if (reference !== null) yield [entry['event_id'] ?? null, reference]
  }
}

/** The text under which a payload store knows the payload; null when the reference names none. */
export function locatorOf(reference: JsonValue): string | null {
  if (typeof reference === 'string') return reference
  if (!isJsonObject(reference)) return null
  const own = reference['kind'] === 'payload_store' ? firstTruthy(reference['uri'], reference['sha256']) : null
  const rows = reference['rows_ref']
  for (const place of [own, namedIn(reference), isJsonObject(rows) ? namedIn(rows) : null]) {
    if (isTruthy(place)) return textOrNull(place)
  }
  return null
}

function namedIn(reference: JsonObject): JsonValue {
  return firstTruthy(reference['ref'], reference['uri'], reference['locator'])
}
