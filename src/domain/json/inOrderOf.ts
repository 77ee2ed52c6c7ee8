// The database keeps no order of keys, and neither does the canonical text of a state. Where a document of ours tells the order,
// it can be had back: a loop over a map then takes its entries as they were written.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from './value.js'

/** The same value; keys that the model has come first and in its order, however deep. */
export function inOrderOf(value: JsonValue, model: JsonValue | undefined): JsonValue {
  if (!isJsonObject(value) || !isJsonObject(model)) return value
  const ordered: JsonObject = {}
  for (const key of Object.keys(model)) {
    if (Object.hasOwn(value, key)) setKey(ordered, key, inOrderOf(value[key] as JsonValue, model[key]))
  }
  for (const key of Object.keys(value)) if (!Object.hasOwn(ordered, key)) setKey(ordered, key, value[key] as JsonValue)
  return ordered
}
