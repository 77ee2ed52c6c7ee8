// What a decision may say in its events itself, and what is stored apart: the items of a long loop, and what a long one gave.

import type { JsonObject, JsonValue } from '../json/value.js'
import { jsonWeight } from '../json/weight.js'
import { writeJson } from '../json/write.js'
import { extractedOf } from '../results/extracted.js'
import type { LargePart } from '../state/orchestrator.js'
import type { Reference } from './answer.js'

const ITEMS_BYTES_MAX = 64 * 1024
const DATA_BYTES_MAX = 1024 * 1024

/** Undefined: they are said in the event. */
export function largeItems(items: readonly JsonValue[]): LargePart | undefined {
  const text = textBeyond(items as JsonValue[], ITEMS_BYTES_MAX)
  return text === undefined ? undefined : { at: 'items', text }
}

function largeData(data: JsonValue): LargePart | undefined {
  const text = textBeyond(data, DATA_BYTES_MAX)
  return text === undefined ? undefined : { at: 'data', text, extracted: extractedOf(data) }
}

/** The result of an event about data: the data itself, where it is stored, or what is yet to be stored. */
export function resultWith(
  status: string,
  data: JsonValue,
  reference: Reference | undefined,
): { result: JsonObject; large?: LargePart } {
  if (reference !== undefined) return { result: { status, reference: reference.document } }
  const large = largeData(data)
  return large === undefined ? { result: { status, context: { data } } } : { result: { status }, large }
}

function textBeyond(value: JsonValue, bytesMax: number): string | undefined {
  // Quotes in a text are written as two characters, so that it may be up to twice as long as it weighs.
  if (jsonWeight(value) * 2 <= bytesMax) return undefined
  const text = writeJson(value)
  return text.length > bytesMax || Buffer.byteLength(text) > bytesMax ? text : undefined
}
