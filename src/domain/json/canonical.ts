// The canonical text of a JSON value and its SHA-256: the only form that is ever hashed. ASCII only,
// no spaces, keys sorted by code point, integers exact, floats always recognisable as floats. A change
// of a single byte here changes every checksum ever stored, so it needs a new fold profile.

import { createHash } from 'node:crypto'
import { CanonicalWriter } from './canonicalWriter.js'
import type { JsonValue } from './value.js'

export function canonicalJson(value: JsonValue): string {
  return written(value).text()
}

export function canonicalChecksum(value: JsonValue): string {
  return sha256Hex(written(value).written())
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function written(value: JsonValue): CanonicalWriter {
  const writer = new CanonicalWriter()
  writer.value(value)
  return writer
}
