// What a tool reported, as the events that answer its command.
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { isJsonObject } from '../../domain/json/value.js'
import type { WorkerReport } from '../commands/commands.js'

/** The two events of an answer: they are written together. */
export function answerOf(envelope: JsonObject, result: JsonObject): WorkerReport[] {
  const durationMs = numberOf(envelope['duration_ms'])
  const error = envelope['error']
  if (isJsonObject(error)) {
    const message = String(error['message'] ?? 'failed')
    return [
      { type: 'call.error', status: 'FAILED', payload: { call_index: 0, error, result }, error: message, durationMs },
      { type: 'command.failed', status: 'FAILED', payload: { error }, error: message, durationMs },
    ]
  }
  return [
    { type: 'call.done', status: 'COMPLETED', payload: { call_index: 0, result }, durationMs },
    { type: 'command.completed', status: 'success', payload: { status: 'success' }, durationMs },
  ]
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
