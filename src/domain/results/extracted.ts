// What an event says about data that is stored outside of it: where, how much, and its small parts, so that most templates
// find what they read without fetching the whole.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { writeJson } from '../json/write.js'

const EXTRACTED_BYTES_MAX = 8 * 1024
const PART_BYTES_MAX = 1024

/** `stored`: what the store has answered; `leftOut`: see below. */
export function referenceTo(
  stored: JsonObject,
  extracted: JsonObject,
  leftOut: readonly string[] | undefined = undefined,
): JsonObject {
  const { ref, store, scope, bytes, sha256, expires_at } = stored
  return {
    kind: 'result_ref',
    ref: ref ?? null,
    store: store ?? null,
    scope: scope ?? null,
    meta: { bytes: bytes ?? null, sha256: sha256 ?? null, content_type: 'application/json' },
    extracted,
    ...(leftOut === undefined || leftOut.length === 0 ? {} : { left_out: [...leftOut] }),
    expires_at: expires_at ?? null,
  }
}

/** Scalars and small members of the top level; of rows their columns, number and first one. */
export function extractedOf(data: JsonValue): JsonObject {
  const extracted: JsonObject = {}
  let room = EXTRACTED_BYTES_MAX
  const keep = (key: string, value: JsonValue): void => {
    const size = key.length + writeJson(value).length
    if (size > PART_BYTES_MAX || size > room) return
    room -= size
    setKey(extracted, key, value)
  }
  if (isJsonObject(data)) for (const [key, value] of Object.entries(data)) keep(key, value)
  const rows = Array.isArray(data) ? data : isJsonObject(data) && Array.isArray(data['rows']) ? data['rows'] : undefined
  if (rows !== undefined && !Array.isArray(data)) keep('row_count', rows.length)
  return extracted
}

/** What templates may say about a result, and a result may also hold under the same name. */
const WORDS = ['status', 'error', 'data', 'result', 'context', 'response', 'meta', 'ref', 'reference'] as const

/** So that nobody takes a word about the result for a part of that name which was left out. */
export function leftOutOf(data: JsonValue, extracted: JsonObject): string[] {
  return isJsonObject(data) ? WORDS.filter((key) => Object.hasOwn(data, key) && !Object.hasOwn(extracted, key)) : []
}
