// About how many bytes a value takes as JSON text, without writing it. A little too much rather than too little, and
// cheap: it is asked for every event.
import { isJsonObject, type JsonValue } from './value.js'

const SCALAR_BYTES = 8
const ENTRY_BYTES = 4

export function jsonWeight(value: JsonValue | undefined): number {
  if (typeof value === 'string') return textWeight(value)
  if (Array.isArray(value)) {
    let sum = ENTRY_BYTES
    for (const item of value) sum += jsonWeight(item) + 1
    return sum
  }
  if (!isJsonObject(value)) return SCALAR_BYTES
  let sum = ENTRY_BYTES
  for (const key of Object.keys(value)) sum += key.length + ENTRY_BYTES + jsonWeight(value[key])
  return sum
}

/** Counting the bytes of a short text costs more than it tells. */
function textWeight(text: string): number {
  return text.length < 1_000 ? text.length + 2 : Buffer.byteLength(text) + 2
}
