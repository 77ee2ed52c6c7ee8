// Two accounts of one execution held against each other, although they write the same thing differently: null, an empty object,
// an empty list and an absent key are the same here, and what only names the rules or sums the rest up is left out.
import { Float, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { type Difference, diffDocuments } from './diff.js'

const NOT_COMPARED = new Set([
  'fold_profile',
  'checksum',
  'checksum_algorithm',
  'projection_checksums',
  'projection',
  'upcaster_registry_digest',
  'replay_snapshot',
])

/** From the first account to the second. */
export function parityDifferences(from: JsonObject, to: JsonObject): Difference[] {
  return diffDocuments(comparable(from), comparable(to))
}

function comparable(state: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const key of Object.keys(state)) if (!NOT_COMPARED.has(key)) setKey(kept, key, state[key]!)
  const execution = kept['execution']
  // One generation sums each reference up, the others do not.
  if (isJsonObject(execution) && Array.isArray(execution['payload_refs'])) {
    const refs = execution['payload_refs'].map((entry) => (isJsonObject(entry) ? withoutSummary(entry) : entry))
    kept['execution'] = { ...execution, payload_refs: refs }
  }
  return (filled(kept) ?? {}) as JsonObject
}

function withoutSummary({ summary: _summary, ...entry }: JsonObject): JsonObject {
  return entry as JsonObject
}

/** Undefined when there is nothing in it. */
function filled(value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (value instanceof Float || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => filled(item) ?? null)
  const kept: JsonObject = {}
  let isEmpty = true
  for (const key of Object.keys(value)) {
    const item = filled(value[key]!)
    if (item === undefined) continue
    isEmpty = false
    setKey(kept, key, item)
  }
  return isEmpty ? undefined : kept
}
