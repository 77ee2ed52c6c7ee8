// Data that is too large for an event goes to the result store; the event keeps where it is, and its small parts, so that
// most templates find what they read without fetching it.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { extractedOf, leftOutOf, referenceTo } from '../../domain/results/extracted.js'
import type { ResultStore } from '../../tools/run/resultStore.js'
import type { HeldCommand } from '../commands/commands.js'

const INLINE_BYTES_MAX = 100 * 1024

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
    const extracted = extractedOf(kept)
    return {
      status,
      context: {
        ...envelope,
        data: { _ref: stored['ref'] ?? null, ...(updates === undefined ? {} : { _context_updates: updates }) },
      },
      reference: referenceTo(stored, extracted, leftOutOf(kept, extracted)),
    }
  }
}
