// How the Rust server reads loosely typed values and writes the text it hashes: a key that is there with null is the text
// "null", only whole 64-bit numbers count, and text goes out as UTF-8 with keys in the order of their bytes.
import { compareCodePoints } from '../../json/codePoints.js'
import { floatText } from '../../json/number.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../../json/value.js'
import { type Integer, integerOf, type Maybe } from '../coerce.js'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const UINT64_MAX = 2n ** 64n - 1n

/** Null when the object has no such key. */
export function serverText(object: JsonObject, key: string): string | null {
  return Object.hasOwn(object, key) ? serverTextOf(object[key]!) : null
}

export function serverTextOf(value: JsonValue): string {
  return typeof value === 'string' ? value : serverJson(value)
}

/** A whole number of 64 bits, else null: texts and floats do not count, a zero does. */
export function serverInteger(object: JsonObject, key: string): Integer | null {
  const value: Maybe = Object.hasOwn(object, key) ? object[key] : null
  if (typeof value === 'number') return Number.isInteger(value) ? value : null
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX ? value : null
}

/** What the server hashes. */
export function serverJson(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'boolean':
      return String(value)
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : serverFloat(value)
    case 'bigint':
      // What no 64-bit number can hold is read as a float.
      return value >= INT64_MIN && value <= UINT64_MAX ? String(value) : serverFloat(Number(value))
    default:
      break
  }
  if (value instanceof Float) return serverFloat(value.value)
  if (Array.isArray(value)) return `[${value.map(serverJson).join(',')}]`
  if (!isJsonObject(value)) return 'null'
  const keys = Object.keys(value).sort(compareCodePoints)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${serverJson(value[key]!)}`).join(',')}}`
}

/** `1e16` and `1e-5`, where canonical text has `1e+16` and `1e-05`. */
function serverFloat(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  return floatText(value).replace(/e\+?(-?)0?/, 'e$1')
}

/** Its ids are 64-bit numbers. */
export function serverEventId(event: JsonObject): Integer {
  return integerOf(event['event_id']) ?? 0
}
