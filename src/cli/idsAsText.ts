// Documents that the daemon keeps with 64-bit ids as integers, as commands print them: `jq` and JavaScript would round those.
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json/value.js'

/** Its own fields only: what playbooks wrote lies deeper and stays as it is. */
export function idsAsText(document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [name, name.endsWith('_id') ? asText(value) : value]),
  )
}

/** The live state: its ids and those of its steps. */
export function stateWithTextIds(state: JsonObject): JsonObject {
  const { steps } = state
  if (!isJsonObject(steps)) return idsAsText(state)
  const shown = Object.entries(steps).map(([name, step]) => [name, isJsonObject(step) ? idsAsText(step) : step])
  return { ...idsAsText(state), steps: Object.fromEntries(shown) as JsonObject }
}

function asText(value: JsonValue): JsonValue {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
}
