// Reading the parts of a stored state. A text that is not exactly such a state is refused as corrupt: a snapshot is a
// cache, and the log can always be folded again.

import { CpError } from '../../errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === undefined) return {}
  if (!isJsonObject(value)) throw corrupt('a part is not an object')
  return value
}

export function listOf(value: JsonValue | undefined): JsonValue[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw corrupt('a part is not a list')
  return value
}

export function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw corrupt('a part is not text')
  return value
}

export function numberOf(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw corrupt('a part is not a whole number')
  return value
}

export function corrupt(why: string): CpError {
  return new CpError('corrupt', `the stored state cannot be read (${why}); fold the log again`)
}
