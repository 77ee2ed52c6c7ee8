// An event too large for the main loop: read, cleaned and written in a thread. What goes further is the text of its JSON
// parts and, of their contents, only what decisions are made by.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { hideEvent } from '../secrets/eventSecrets.js'
import type { SecretRules } from '../secrets/secretNames.js'
import { type WrittenParts, writeParts } from './envelope.js'
import { checkedPart, type EventRecord } from './eventRecord.js'

/** The event with its parts as text; secrets are out of it. `hashed`: it may be compared with a stored one. */
export function toWrittenEvent<T extends EventRecord>(event: T, rules: SecretRules | null, hashed: boolean): T {
  const { hidden, context, result, meta, ...rest } = rules === null ? event : hideEvent(event, rules)
  const parts = writeParts({ context, result, meta })
  const check = (): WrittenParts => ({
    context: checkedPart(context),
    result: checkedPart(result),
    meta: checkedPart(meta),
  })
  return {
    ...rest,
    context: headOf(context),
    result: headOf(result),
    meta: headOf(meta),
    written: {
      parts,
      checked: hashed ? check() : undefined,
      hidden: hidden === undefined ? undefined : writeJson(hidden),
    },
  } as unknown as T
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
  for (const name of [...DECIDING, ...AROUND]) {
    const value = Object.hasOwn(part, name) ? part[name] : undefined
    const isShown = typeof value !== 'object' && value !== undefined && DECIDING.has(name)
    // It goes on as plain JSON, where an id of any size is text.
    const kept = isShown
      ? typeof value === 'bigint'
        ? String(value)
        : value
      : depth < DEPTH_MAX && AROUND.has(name)
        ? headOf(value, depth + 1)
        : undefined
    if (kept !== undefined) head[name] = kept
  }
  return head
}
