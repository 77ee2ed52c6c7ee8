// Where results are kept that are too large for an event.
import type { JsonObject, JsonValue } from '../../domain/json/value.js'

export interface PutResult {
  readonly executionId: string
  readonly name: string
  readonly data: JsonValue
  readonly step: string
}

export interface ResultStore {
  /** Throws a ToolFailure of kind storage when there is none, or it cannot be had. */
  get(ref: string, signal: AbortSignal): Promise<JsonValue>
  /** `{ref, store, scope, bytes, sha256, expires_at}`. */
  put(result: PutResult, signal: AbortSignal): Promise<JsonObject>
}
