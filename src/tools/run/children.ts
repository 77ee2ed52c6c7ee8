// Playbooks that a task starts.
import type { JsonObject, JsonValue } from '../../domain/json/value.js'

export interface ChildStart {
  /** The same key gives the same child: after a lost worker the pipeline finds what it started. */
  readonly key: string
  readonly parentExecutionId: string
  readonly parentCommandId: string
  readonly path: string | undefined
  readonly catalogId: string | undefined
  readonly version: string | undefined
  readonly payload: JsonObject
}

export interface ChildEnd {
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  /** Why it did not complete. */
  readonly error: string | undefined
  readonly durationMs: number | undefined
}

export interface Children {
  /** Throws a ToolFailure of kind config when there is no such playbook, or it cannot run. */
  start(child: ChildStart, signal: AbortSignal): Promise<{ executionId: string; path: string }>
  /** Resolves when the child has ended. */
  ended(executionId: string, signal: AbortSignal): Promise<ChildEnd>
  /** Data of the execution, or of the last finished visit of a step. */
  resultOf(executionId: string, step: string | undefined, signal: AbortSignal): Promise<JsonValue>
}
