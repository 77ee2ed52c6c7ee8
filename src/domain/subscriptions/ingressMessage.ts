// What a received message means to its subscription: the payload of the execution it starts, and the key by
// which a second delivery of the same thing is recognised. Pulled and pushed messages follow the same rules.

import { CpError } from '../../errors.js'
import { isStorable } from '../events/storableText.js'
import { sha256Hex } from '../json/canonical.js'
import { parseJsonStrict } from '../json/parse.js'
import { INPUT_DEPTH_MAX, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { SubscriptionSpec } from './subscriptionSpec.js'

export interface DeliveryRules {
  playbook: string
  executionPool?: string
  payloadFrom: string
  /** Said in so many words: `dedup: {enabled: false}`. */
  dedupOff: boolean
  /** Whether a `dedup` section asks for recognition by content, too. */
  dedupAsked: boolean
  windowSeconds: number
  keyHeader?: string
  /** Dotted path into the JSON body. */
  keyField?: string
}

export interface Received {
  header(name: string): string | undefined
  headers(): Record<string, string>
  body: Uint8Array
  /** Where it came from, for `payload_from: message`. */
  about: JsonObject
}

export const PAYLOAD_SOURCES: readonly string[] = ['message.json', 'message.text', 'message']
/** Longer keys are replaced by their hash: an index entry has a largest size. */
export const KEY_LENGTH_MAX = 512

/** `written` is the spec as it stands in the document; a few keys are read only here. */
export function deliveryRules(spec: SubscriptionSpec, written: JsonObject): DeliveryRules {
  const dedup = isJsonObject(written['dedup']) ? written['dedup'] : undefined
  const rules: DeliveryRules = {
    playbook: spec.dispatch.playbook,
    payloadFrom: spec.dispatch.payloadFrom,
    dedupOff: dedup !== undefined && !spec.dedup.enabled,
    dedupAsked: spec.dedup.enabled,
    windowSeconds: spec.dedup.windowSeconds,
  }
  if (spec.dispatch.executionPool !== undefined) rules.executionPool = spec.dispatch.executionPool
  const header = text(dedup?.['header']) ?? text(dedup?.['key_header']) ?? idempotencyHeader(spec.headers)
  if (header !== undefined) rules.keyHeader = header
  const field = text(dedup?.['field']) ?? text(dedup?.['key_field'])
  if (field !== undefined) rules.keyField = field
  return rules
}

/** The directive `{header: X, controls: idempotency_key}` of `spec.headers`. */
function idempotencyHeader(headers: JsonObject | undefined): string | undefined {
  const directives = headers?.['directives']
  if (!Array.isArray(directives)) return undefined
  for (const directive of directives) {
    if (isJsonObject(directive) && directive['controls'] === 'idempotency_key') return text(directive['header'])
  }
  return undefined
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** The body as JSON; undefined when it is empty. A body that is none is refused. */
export function bodyJson(body: Uint8Array): JsonValue | undefined {
  if (body.byteLength === 0) return undefined
  return parseJsonStrict(bodyText(body), { maxDepth: INPUT_DEPTH_MAX })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function bodyText(body: Uint8Array): string {
  try {
    return decoder.decode(body)
  } catch (error) {
    throw new CpError('invalid_input', 'the message is not valid UTF-8', { cause: error })
  }
}

export function payloadOf(rules: DeliveryRules, received: Received): JsonObject {
  switch (rules.payloadFrom) {
    case 'message.json': {
      const json = bodyJson(received.body)
      if (json === undefined) return {}
      return isJsonObject(json) ? json : { message: json }
    }
    case 'message.text':
      return { message: storable(bodyText(received.body)) }
    case 'message':
      return { message: { ...received.about, headers: storableHeaders(received), data: wholeBody(received.body) } }
    default:
      throw new CpError(
        'invalid_input',
        `dispatch.payload_from ${JSON.stringify(rules.payloadFrom)} is not known here; one of ${PAYLOAD_SOURCES.join(', ')}`,
      )
  }
}

function storable(value: string): string {
  if (!isStorable(value)) throw new CpError('invalid_input', 'the message holds NUL, which cannot be stored')
  return value
}

function storableHeaders(received: Received): Record<string, string> {
  const headers = received.headers()
  if (Object.entries(headers).every(([name, value]) => isStorable(name) && isStorable(value))) return headers
  throw new CpError('invalid_input', 'a header of the message holds NUL, which cannot be stored')
}

function wholeBody(body: Uint8Array): JsonValue {
  try {
    return bodyJson(body) ?? null
  } catch {
    return storable(bodyText(body))
  }
}

/**
 * The key that the sender gave the message; undefined when it gave none. `deliveryHeaders` are the headers by
 * which this kind of source repeats itself. A body's own `id` counts only when a dedup section asks for it: two
 * changes of one thing may carry the same.
 */
export function senderKey(
  rules: DeliveryRules,
  received: Received,
  deliveryHeaders: readonly string[],
  useBodyId: boolean,
): string | undefined {
  if (rules.dedupOff) return undefined
  const named = rules.keyHeader === undefined ? undefined : received.header(rules.keyHeader)
  if (named !== undefined && named !== '') return bounded(named)
  if (rules.keyField !== undefined) return fieldKey(received.body, rules.keyField)
  for (const name of deliveryHeaders) {
    const value = received.header(name)
    if (value !== undefined && value !== '') return bounded(value)
  }
  return useBodyId && rules.dedupAsked ? fieldKey(received.body, 'id') : undefined
}

function fieldKey(body: Uint8Array, field: string): string | undefined {
  let value: JsonValue | undefined
  try {
    value = bodyJson(body)
  } catch {
    return undefined
  }
  for (const name of field.replace(/^\//, '').split(/[./]/)) {
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  if (typeof value === 'string' && value !== '') return bounded(value)
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined
}

function bounded(key: string): string {
  return key.length <= KEY_LENGTH_MAX && isStorable(key) ? key : `sha256:${sha256Hex(key)}`
}
