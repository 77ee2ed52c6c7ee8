// What a command answered, taken out of the envelopes: the data of the tool, its error, the context it wants to change.

import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { objectAt, own } from '../state/workflowEvent.js'
import type { PayloadText } from '../state/workflowState.js'

export interface Answer {
  /** Null when the tool returned nothing, or when the data is stored elsewhere. */
  readonly data: JsonValue
  readonly reference: Reference | undefined
  /** `_context_updates` of a pipeline: `ctx.`, `vars.` and `step.` keys. */
  readonly updates: JsonObject
  readonly error: JsonValue | undefined
}

/** Data that is too large for an event. */
export interface Reference {
  readonly ref: string
  /** The whole document, as the worker wrote it. */
  readonly document: JsonObject
  /** Parts of the data that are small. */
  readonly extracted: JsonObject
  /** Names of those that are not, among the words that mean something else of a result without them. */
  readonly leftOut: ReadonlySet<string>
}

const NOTHING: JsonObject = {}

export function readAnswer(text: PayloadText | undefined): Answer {
  if (text === undefined) return { data: null, reference: undefined, updates: NOTHING, error: undefined }
  const document = parseJson(text)
  const outer = objectAt(document, 'context', 'result')
  const envelope = objectAt(outer, 'context')
  const reference = readReference(own(outer, 'reference')) ?? readReference(own(objectAt(document), 'reference'))
  // Beside a reference there may be what a pipeline wants to change.
  const { data, updates } = withoutUpdates(dataOf(document))
  return {
    data: reference === undefined ? data : null,
    reference,
    updates: updates === NOTHING ? objectAt(envelope, '_context_updates') : updates,
    error: own(envelope, 'error') ?? own(outer, 'error'),
  }
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  'status',
  'error',
  'duration_ms',
  'stdout',
  'stderr',
  'exit_code',
  '_context_updates',
])
const OUTER_KEYS: ReadonlySet<string> = new Set(['command_id', 'call_index', 'attempt', 'attempts', 'status'])

/** From the outside in: event, `result` of the call, envelope of the tool. The innermost that is there counts. */
function dataOf(document: JsonValue): JsonValue {
  const context = objectAt(document, 'context')
  if (!Object.hasOwn(context, 'result')) return bodyOf(context, OUTER_KEYS)
  const result = context['result'] as JsonValue
  if (!isJsonObject(result)) return result
  if (!Object.hasOwn(result, 'context')) return bodyOf(result, OUTER_KEYS)
  const envelope = result['context'] as JsonValue
  return isJsonObject(envelope) ? bodyOf(envelope, ENVELOPE_KEYS) : envelope
}

function bodyOf(part: JsonObject, frame: ReadonlySet<string>): JsonValue {
  if (Object.hasOwn(part, 'data')) return part['data'] as JsonValue
  return Object.keys(part).every((key) => frame.has(key)) ? null : part
}

function withoutUpdates(data: JsonValue): { data: JsonValue; updates: JsonObject } {
  if (!isJsonObject(data) || !Object.hasOwn(data, '_context_updates')) return { data, updates: NOTHING }
  const { _context_updates: updates, ...rest } = data
  return { data: rest, updates: isJsonObject(updates) ? updates : NOTHING }
}

export function readReference(value: JsonValue | undefined): Reference | undefined {
  const document = objectAt(value)
  const ref = own(document, 'ref')
  if (typeof ref !== 'string') return undefined
  const names = own(document, 'left_out')
  const leftOut = new Set(Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [])
  return { ref, document, extracted: objectAt(document, 'extracted'), leftOut }
}

/** Answers are read many times and never change. */
export function memoByFact<K extends object, T>(compute: (fact: K) => T): (fact: K) => T {
  const known = new WeakMap<K, { value: T }>()
  return (fact) => {
    const before = known.get(fact)
    if (before !== undefined) return before.value
    const value = compute(fact)
    known.set(fact, { value })
    return value
  }
}
