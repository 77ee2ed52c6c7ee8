// A large body of a few texts, numbers and flags: only what its schema names comes back.
import { readJsonBody } from '../../../domain/json/body.js'
import type { Schema } from '../../../domain/json/schema.js'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'

export function flatBody(input: { bytes: Uint8Array; schema: Schema }): JsonObject {
  const body = readJsonBody(input.bytes, input.schema) as JsonObject
  const flat: Record<string, JsonValue> = {}
  for (const name of Object.keys(input.schema.properties ?? {})) {
    if (Object.hasOwn(body, name)) flat[name] = body[name]!
  }
  return flat
}
