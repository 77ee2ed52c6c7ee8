// Reads one named field of a JSON object that came from outside. Absent and null are the same; a wrong type
// is refused with a JSON pointer to the field, and the refusal never repeats the value.

import { CpError } from '../../errors.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

/** Longer names are a mistake or an attack; the columns have indexes on them. */
export const NAME_LENGTH_MAX = 1024
export const TEXT_LENGTH_MAX = 1_000_000

// NUL cannot be stored in Postgres, and half a character cannot be written as UTF-8.
const UNSTORABLE = /\0|\p{Surrogate}/u

export function refuseField(pointer: string, rule: string): CpError {
  return new CpError('invalid_input', `${pointer} ${rule}`, { details: { field: pointer } })
}

/** Names of fields are ours and hold nothing that a pointer would have to escape. */
export function pointerTo(at: string, key: string | number): string {
  return `${at}/${key}`
}

export function readField(input: JsonObject, key: string): JsonValue | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined
  return value === null ? undefined : value
}

/** The first of several spellings of one field that is present, with the spelling that was used. */
export function readAlias(input: JsonObject, keys: readonly string[]): { key: string; value: JsonValue | undefined } {
  for (const key of keys) {
    const value = readField(input, key)
    if (value !== undefined) return { key, value }
  }
  return { key: keys[0] as string, value: undefined }
}

/** Text, with the empty text taken as absent. */
export function readText(input: JsonObject, key: string, at: string, lengthMax = NAME_LENGTH_MAX): string | undefined {
  const value = readField(input, key)
  if (value === undefined || value === '') return undefined
  const pointer = pointerTo(at, key)
  if (typeof value !== 'string') throw refuseField(pointer, 'must be text')
  if (value.length > lengthMax) throw refuseField(pointer, `must not be longer than ${lengthMax} characters`)
  if (UNSTORABLE.test(value)) throw refuseField(pointer, 'must not contain NUL or half a surrogate pair')
  return value
}

export function readBoolean(input: JsonObject, key: string, at: string): boolean | undefined {
  const value = readField(input, key)
  if (value === undefined || typeof value === 'boolean') return value
  throw refuseField(pointerTo(at, key), 'must be true or false')
}

export function readObject(input: JsonObject, key: string, at: string): JsonObject | undefined {
  const value = readField(input, key)
  if (value === undefined) return undefined
  if (!isJsonObject(value)) throw refuseField(pointerTo(at, key), 'must be an object')
  return value
}

/** A finite number, also from its text; the empty text is absent. */
export function readNumber(input: JsonObject, key: string, at: string): number | undefined {
  const value = readField(input, key)
  if (value === undefined || value === '') return undefined
  const number =
    value instanceof Float
      ? value.value
      : typeof value === 'number' || typeof value === 'bigint'
        ? Number(value)
        : typeof value === 'string' && /^-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?$/.test(value)
          ? Number(value)
          : Number.NaN
  if (!Number.isFinite(number)) throw refuseField(pointerTo(at, key), 'must be a finite number')
  return number
}
