// What a person is shown of a message: its JSON, so that secrets in it are known by their names, or its text. Of a large one only
// text can be shown in part: of JSON that is cut nobody could tell what stands under which name.
import { parseJson } from '../json/parse.js'
import type { JsonValue } from '../json/value.js'

/** Larger ones are not read whole. */
export const SHOWN_WHOLE_MAX = 16_384
/** Of a larger one. */
export const SHOWN_HEAD_BYTES = 1_024

const decoder = new TextDecoder()
const JSON_BEGINS = /^\s*["[{]/

/** Null: it cannot be shown. */
export function shownBody(head: Uint8Array, isWhole: boolean): JsonValue {
  const text = decoder.decode(head)
  // What was cut within a character.
  if (!isWhole) return JSON_BEGINS.test(text) ? null : `${text.replace(/\uFFFD+$/, '')}…`
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
