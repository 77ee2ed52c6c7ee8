// Data that is too large for an event goes to the result store; the event keeps where it is, and its small parts, so that
// most templates find what they read without fetching it.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import type { ResultStore } from '../../tools/run/resultStore.js'
import type { HeldCommand } from '../commands/commands.js'

const INLINE_BYTES_MAX = 100 * 1024
const EXTRACTED_BYTES_MAX = 8 * 1024
const PART_BYTES_MAX = 1024

/** What `call.done` says as its result. */
export function createLargeAnswers(results: ResultStore) {
  return async (command: HeldCommand, envelope: JsonObject): Promise<JsonObject> => {
    const status = envelope['status'] ?? null
    const { data } = envelope
    if (data === undefined || writeJson(data).length <= INLINE_BYTES_MAX) return { status, context: envelope }
    const { _context_updates: updates, ...rest } = isJsonObject(data) ? data : { _context_updates: undefined }
    const kept: JsonValue = isJsonObject(data) ? rest : data
    const { executionId, step, commandId } = command
    const stored = await results.put({ executionId, step, name: commandId, data: kept }, new AbortController().signal)
    const { ref, store, scope, bytes, sha256, expires_at } = stored
    return {
      status,
      context: {
        ...envelope,
        data: { _ref: ref ?? null, ...(updates === undefined ? {} : { _context_updates: updates }) },
      },
      reference: {
        kind: 'result_ref',
        ref: ref ?? null,
        store: store ?? null,
        scope: scope ?? null,
        meta: { bytes: bytes ?? null, sha256: sha256 ?? null, content_type: 'application/json' },
        extracted: extractedOf(kept),
        expires_at: expires_at ?? null,
      },
    }
  }
}

/** Scalars and small members of the top level; of rows their columns, number and first one. */
function extractedOf(data: JsonValue): JsonObject {
  const extracted: JsonObject = {}
  let room = EXTRACTED_BYTES_MAX
  const keep = (key: string, value: JsonValue): void => {
    const size = key.length + writeJson(value).length
    if (size > PART_BYTES_MAX || size > room) return
    room -= size
    setKey(extracted, key, value)
  }
  if (isJsonObject(data)) for (const [key, value] of Object.entries(data)) keep(key, value)
  const rows = Array.isArray(data) ? data : isJsonObject(data) && Array.isArray(data['rows']) ? data['rows'] : undefined
  if (rows !== undefined && !Array.isArray(data)) keep('row_count', rows.length)
  return extracted
}
