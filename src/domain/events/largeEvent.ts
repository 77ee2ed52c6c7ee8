// An event too large for the main loop: read, cleaned and written in a thread. What goes further is the text of its JSON
// parts and, of their contents, only what decisions are made by.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { hideEvent } from '../secrets/eventSecrets.js'
import type { SecretRules } from '../secrets/secretNames.js'
import { writeParts } from './envelope.js'
import { checkedPart, type EventRecord, type WrittenEvent } from './eventRecord.js'

/**
 * Takes the parts out of the event, which is the caller's alone: what stays in it is what decides. Answers their texts,
 * without secrets. `hashed`: the event may be compared with a stored one.
 */
export function takeOutParts(event: EventRecord, rules: SecretRules | null, hashed: boolean): WrittenEvent {
  const shown = rules === null ? event : hideEvent(event, rules)
  const { hidden, context, result, meta, error, stackTrace, eventType } = shown
  const written: WrittenEvent = {
    parts: writeParts(shown),
    checked: hashed
      ? { context: checkedPart(context), result: checkedPart(result), meta: checkedPart(meta) }
      : undefined,
    hidden: hidden === undefined ? undefined : writeJson(hidden),
  }
  event.context = headOf(context)
  event.result = headOf(result)
  event.meta = headOf(meta)
  event.eventType = eventType
  event.error = error
  event.stackTrace = stackTrace
  return written
}

/** The fields by which the read model, claims and commands are decided, and the objects they may stand in. */
const DECIDING: ReadonlySet<string> = new Set([
  ...['command_id', 'attempt', 'attempts', 'worker_id', 'pending_callback', 'missing', 'path'],
  ...['emitter', 'idempotency_key', 'engine', 'status', 'exit_code', 'error', 'message'],
])
const AROUND: ReadonlySet<string> = new Set(['context', 'data', 'error'])
const DEPTH_MAX = 3

/** The part with nothing in it but what decides. */
function headOf(part: JsonValue | undefined, depth = 1): JsonValue | undefined {
  if (!isJsonObject(part)) return undefined
  const head: JsonObject = {}
  for (const name in part) {
    const value = part[name]!
    if (typeof value !== 'object') {
      // It goes on as plain JSON, where an id of any size is text.
      if (DECIDING.has(name)) head[name] = typeof value === 'bigint' ? String(value) : value
    } else if (depth < DEPTH_MAX && AROUND.has(name)) {
      const inner = headOf(value, depth + 1)
      if (inner !== undefined) head[name] = inner
    }
  }
  return head
}
