// Text as Postgres takes it. NUL cannot be stored, neither in text nor in jsonb, and half a character cannot be
// written as UTF-8. What must be kept whatever it holds gets marks in their place; everything else is refused.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'

const UNSTORABLE = /\0|\p{Surrogate}/u
const EVERY_UNSTORABLE = /\0|\p{Surrogate}/gu

export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** NUL becomes its picture (U+2400), half a character the replacement character. */
export function storableText(text: string): string {
  return isStorable(text) ? text : text.replace(EVERY_UNSTORABLE, (found) => (found === '\0' ? '\u2400' : '\ufffd'))
}

/** The same for every text in it, names included. */
export function storableJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (!isJsonObject(value)) return value
  const storable: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) setKey(storable, storableText(key), storableJson(inner))
  return storable
}
