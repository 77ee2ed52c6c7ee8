// What crosses between the main thread and a worker thread: plain, cloneable data. A failure is a value,
// because a thrown CpError would arrive as a bare Error without its code.
import { CpError, type ErrorCode, toCpError } from '../errors.js'
import type { TaskName, TaskTypes } from './tasks.js'

export type TaskInput<N extends TaskName> = TaskTypes[N]['input']
export type TaskOutput<N extends TaskName> = TaskTypes[N]['output']

export interface TaskCall {
  task: string
  input: unknown
}

export type TaskResult =
  | { ok: true; value: unknown; ms: number }
  | { ok: false; code: ErrorCode; message: string; details: Record<string, unknown>; ms: number }

export function failureOf(error: unknown, ms: number): TaskResult {
  const failure = toCpError(error)
  return { ok: false, code: failure.code, message: failure.message, details: failure.details, ms }
}

export function unwrap(result: TaskResult): unknown {
  if (result.ok) return result.value
  throw new CpError(result.code, result.message, { details: result.details })
}
