// Starts with large payloads: the body of POST /api/execute(/batch) taken apart, and the parts of a start event put
// together. Payloads come and go as text; what they hold is nobody's business on the main loop.

import type { EventRecord, WrittenEvent } from '../../../domain/events/eventRecord.js'
import { takeOutParts } from '../../../domain/events/largeEvent.js'
import { readJsonBody } from '../../../domain/json/body.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { Schema } from '../../../domain/json/schema.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { CpError } from '../../../errors.js'
import { assertFits } from '../../bodies/inThread/fitting.js'

export interface LargeStartsInput {
  bytes: Uint8Array
  /** Of the whole body. */
  schema: Schema
  /** Of one start: what it does not name is left out. */
  start: Schema
  isBatch: boolean
  /** One of a batch is not larger than one alone. */
  eventBytes: number
}

export interface LargeStart {
  /** Everything but payload and trace, as JSON. */
  fields: string
  payload: string | undefined
  trace: string | undefined
}

const FIELDS_MAX = 65_536

export function largeStarts(input: LargeStartsInput): { starts: LargeStart[] } {
  const body = readJsonBody(input.bytes, input.schema) as JsonObject
  const list = input.isBatch ? (body['executions'] as JsonValue[]) : [body]
  return { starts: list.map((item, index) => takenApart(item, input, index)) }
}

function takenApart(item: JsonValue, { start, isBatch, eventBytes }: LargeStartsInput, index: number): LargeStart {
  if (!isJsonObject(item)) return { fields: writeJson(item), payload: undefined, trace: undefined }
  const payload = item['payload'] ?? item['workload']
  const trace = item['trace']
  const fields: JsonObject = {}
  for (const name of Object.keys(start.properties ?? {})) {
    const isApart = name === 'payload' || name === 'workload' || name === 'trace'
    if (!isApart && Object.hasOwn(item, name)) fields[name] = item[name]!
  }
  // What should be an object and is none is judged with the rest.
  if (payload !== undefined && !isJsonObject(payload)) fields['payload'] = payload
  const text = writeJson(fields)
  if (text.length > FIELDS_MAX) {
    const place = isBatch ? `/executions/${index}` : 'the body'
    throw new CpError('invalid_input', `${place} has more than ${FIELDS_MAX / 1024} KB beside its payload`)
  }
  const texts = {
    payload: isJsonObject(payload) ? writeJson(payload) : undefined,
    trace: trace === undefined || trace === null ? undefined : writeJson(trace),
  }
  if (isBatch) assertFits([texts.payload, texts.trace], eventBytes, `/executions/${index}`)
  return { fields: text, ...texts }
}

export interface StartPartsInput {
  /** The context without its workload. */
  context: Record<string, string | number>
  /** JSON texts: what the entry says, and what is laid over it. */
  defaults: string | null
  payload: string | undefined
  meta: Record<string, string>
  trace: string | undefined
  result: Record<string, string>
  secretNames: readonly string[] | null
}

export function startParts(input: StartPartsInput): WrittenEvent {
  const workload = { ...objectIn(input.defaults), ...objectIn(input.payload) }
  const meta: JsonObject = { ...input.meta }
  if (input.trace !== undefined) meta['trace'] = parseJson(input.trace)
  const event = { context: { ...input.context, workload }, meta, result: input.result, eventType: '' }
  const rules = input.secretNames === null ? null : secretRules(input.secretNames)
  return takeOutParts(event as unknown as EventRecord, rules, false)
}

function objectIn(text: string | null | undefined): JsonObject {
  const value = text == null ? null : parseJson(text)
  return isJsonObject(value) ? value : {}
}
