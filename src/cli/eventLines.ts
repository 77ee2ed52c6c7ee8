// Input of `events append` and `events import`: one JSON document per line, or a single document over many lines. A
// line that cannot be read is handed over with its error; the other lines are not affected.
import { parseJsonStrict } from '../domain/json/parse.js'
import type { JsonValue } from '../domain/json/value.js'
import { CpError, toCpError } from '../errors.js'
import { LINE_BYTES_MAX, readLines } from './lines.js'

export interface Entry {
  /** Where it starts in the input. */
  line: number
  value?: JsonValue
  /** As it was written; absent for one of several in a list. */
  text?: string
  error?: CpError
}

export async function* readEntries(source: AsyncIterable<Buffer>, depthMax: number): AsyncIterable<Entry> {
  const parse = (line: number, text: string): Entry => parseEntry(line, text, depthMax)
  let document: { line: number; texts: string[]; size: number } | undefined
  let isFirst = true
  for await (const { number, text } of readLines(source)) {
    if (text === undefined) {
      yield { line: number, error: new CpError('invalid_input', 'is not UTF-8 text') }
      isFirst = false
      continue
    }
    if (document !== undefined) {
      document.size += text.length
      if (document.size > LINE_BYTES_MAX)
        throw new CpError('too_large', `the document is larger than ${LINE_BYTES_MAX} bytes; send one event per line`)
      document.texts.push(text)
      continue
    }
    const entry = parse(number, text)
    // A first line that is only the beginning of something: one document over many lines.
    if (isFirst && entry.error !== undefined && /^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text)) {
      document = { line: number, texts: [text], size: text.length }
      continue
    }
    isFirst = false
    yield* Array.isArray(entry.value) ? itemsOf(number, entry.value) : [entry]
  }
  if (document === undefined) return
  const entry = parse(document.line, document.texts.join('\n'))
  yield* Array.isArray(entry.value) ? itemsOf(document.line, entry.value) : [entry]
}

function itemsOf(line: number, values: readonly JsonValue[]): Entry[] {
  return values.map((value) => ({ line, value }))
}

function parseEntry(line: number, text: string, depthMax: number): Entry {
  try {
    return { line, text, value: parseJsonStrict(text, { maxDepth: depthMax }) }
  } catch (error) {
    return { line, error: toCpError(error) }
  }
}
