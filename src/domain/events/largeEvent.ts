// An event too large for the main loop: read, cleaned and written in a thread. What goes further is the text of its JSON
// parts and, of their contents, only what decisions are made by.
import { errorText } from '../executions/executionEffect.js'
import { canonicalJson } from '../json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { hideEvent } from '../secrets/eventSecrets.js'
import type { SecretRules } from '../secrets/secretNames.js'
import { type WrittenParts, writeParts } from './envelope.js'
import type { EventRecord } from './eventRecord.js'

/** The event with its parts as text; secrets are out of it. `hashed`: it may be compared with a stored one. */
export function toWrittenEvent<T extends EventRecord>(event: T, rules: SecretRules | null, hashed: boolean): T {
  const { hidden, context, result, meta, ...rest } = rules === null ? event : hideEvent(event, rules)
  const parts = writeParts({ context, result, meta })
  const canonical = (part: JsonValue | undefined) => (part === undefined ? undefined : canonicalJson(part))
  const hash = (): WrittenParts => ({ context: canonical(context), result: canonical(result), meta: canonical(meta) })
  return {
    ...rest,
    ...(context === undefined ? {} : { context: {} }),
    result: resultHead(event),
    meta: metaHead(meta),
    written: {
      parts,
      canonical: hashed ? hash() : undefined,
      hidden: hidden === undefined ? undefined : writeJson(hidden),
    },
  } as unknown as T
}

/** What the read model takes from a result. */
function resultHead(event: EventRecord): JsonObject {
  const error = errorText(event)
  return error === undefined ? {} : { error }
}

/** What claims are recognised by. */
function metaHead(meta: JsonValue | undefined): JsonObject {
  const id = isJsonObject(meta) ? meta['command_id'] : undefined
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? { command_id: String(id) } : {}
}
