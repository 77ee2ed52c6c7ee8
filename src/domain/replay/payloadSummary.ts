// The bounded summary of a payload reference: five fields, always all present, never the payload. A
// reference may describe itself or a `rows_ref` inside it; the first place that says something wins.

import type { JsonValue } from '../json/value.js'
import { EMPTY_OBJECT, isTruthy, type Maybe, objectOr, truthyOr } from './coerce.js'
import type { FoldProfile } from './profile.js'

export type PayloadSummary = {
  sha256: JsonValue
  schema_digest: JsonValue
  row_count: JsonValue
  media_type: JsonValue
  ref: JsonValue
}

export const EMPTY_SUMMARY: PayloadSummary = Object.freeze({
  media_type: null,
  ref: null,
  row_count: null,
  schema_digest: null,
  sha256: null,
})

export function summarizePayload(reference: JsonValue, profile: FoldProfile): PayloadSummary {
  const own = objectOr(reference, EMPTY_OBJECT)
  if (own === EMPTY_OBJECT) return EMPTY_SUMMARY
  const rows = objectOr(own['rows_ref'], EMPTY_OBJECT)
  const meta = objectOr(rows['meta'], EMPTY_OBJECT)
  const ipc = objectOr(rows['ipc'], EMPTY_OBJECT)
  // Keys in canonical order, which spares sorting them for every checksum.
  return {
    media_type: firstOf(own['media_type'], meta['media_type'], ipc['media_type']),
    ref: firstOf(own['ref'], rows['ref'], own['uri']),
    row_count:
      profile === 'cp'
        ? (own['row_count'] ?? meta['row_count'] ?? ipc['row_count'] ?? null)
        : firstOf(own['row_count'], meta['row_count'], ipc['row_count']),
    schema_digest: firstOf(own['schema_digest'], meta['schema_digest'], ipc['schema_digest']),
    sha256: truthyOr(firstOf(own['sha256'], meta['sha256'], ipc['sha256']), own['digest'] ?? null),
  }
}

function firstOf(first: Maybe, second: Maybe, third: Maybe): JsonValue {
  return isTruthy(first) ? first : isTruthy(second) ? second : (third ?? null)
}
