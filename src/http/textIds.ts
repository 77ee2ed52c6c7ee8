// 64-bit ids as text, for readers whose numbers end at 2^53: browsers, and whoever asks with ?ids=string. What a route
// says is an id (`format: int64`) becomes text whatever its size, and so does every other integer that would lose digits,
// except for those that are numbers for everybody (`type: integer`).
import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../domain/json/value.js'
import { CpError } from '../errors.js'
import type { ApiReply, ServerSentEvent } from './route.js'
import type { Schema } from './schema.js'

// A lone Sec-Fetch-Mode is what the fetch of Node sends; browsers send where a call comes from as well.
const BROWSER_HEADERS = ['origin', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user']

export function wantsTextIds(headers: IncomingHttpHeaders, asked: string | undefined): boolean {
  if (asked !== undefined && asked !== 'string' && asked !== 'number') {
    throw new CpError('invalid_input', 'query parameter ids must be string or number')
  }
  return asked === undefined ? BROWSER_HEADERS.some((name) => headers[name] !== undefined) : asked === 'string'
}

export function withTextIds(answer: ApiReply, schema: Schema | string | undefined): ApiReply {
  const { body, text, bytes, events, contentType } = answer
  if (events !== undefined) return { ...answer, events: inEvents(events) }
  if (contentType !== undefined && !contentType.startsWith('application/json')) return answer
  if (body !== undefined) return { ...answer, body: inValue(body, typeof schema === 'object' ? schema : undefined) }
  if (text !== undefined) return { ...answer, text: inText(text) }
  if (bytes === undefined) return answer
  const { buffer, byteOffset, byteLength } = bytes
  return { ...answer, bytes: Buffer.from(inText(Buffer.from(buffer, byteOffset, byteLength).toString())) }
}

async function* inEvents(events: AsyncIterable<ServerSentEvent>): AsyncIterable<ServerSentEvent> {
  for await (const event of events) yield event.data === undefined ? event : { ...event, data: inData(event.data) }
}

const shownData = new WeakMap<object, JsonValue>()

/** The same value for all who hear it: whoever writes it down does so once. */
function inData(data: JsonValue): JsonValue {
  if (typeof data !== 'object' || data === null) return inValue(data, undefined)
  const shown = shownData.get(data) ?? inValue(data, undefined)
  shownData.set(data, shown)
  return shown
}

function inValue(value: JsonValue, schema: Schema | undefined): JsonValue {
  // The workers that read these take nothing but numbers.
  if (schema?.type === 'integer') return value
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return schema?.format === 'int64' ? String(value) : value
  if (Array.isArray(value)) return value.map((item) => inValue(item, schema?.items))
  if (!isJsonObject(value)) return value
  const shown: JsonObject = {}
  for (const key of Object.keys(value)) setKey(shown, key, inValue(value[key]!, schema?.properties?.[key]))
  return shown
}

const LONG_INTEGER = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

/** JSON text as it was stored: what stands between its strings. */
function inText(text: string): string {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    parts.push(text.slice(at, end).replace(LONG_INTEGER, quoteUnsafe))
    if (quote === -1) break
    const after = afterString(text, quote)
    parts.push(text.slice(quote, after))
    at = after
  }
  return parts.join('')
}

function quoteUnsafe(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : `"${digits}"`
}

function afterString(text: string, quote: number): number {
  for (let at = quote + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at === -1) return text.length
    let before = at - 1
    while (text[before] === '\\') before--
    if ((at - before) % 2 === 1) return at + 1
  }
}
