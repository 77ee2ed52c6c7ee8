// What went wrong in a step, in one form: `{kind, message, retryable, code, source, …}`. Workers send texts and objects of
// several kinds; templates read `error.kind`, `error.message` and `output.error.status`.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export type ErrorKind =
  | 'template'
  | 'timeout'
  | 'config'
  | 'unsupported'
  | 'storage'
  | 'child_failed'
  | 'worker_lost'
  | 'unknown'

/** An error found by the engine itself, before or instead of a tool. */
export function engineError(kind: ErrorKind, message: string, source = 'engine'): JsonObject {
  return { kind, message, retryable: kind === 'timeout', code: null, source }
}

/** Whatever somebody sent, with the fields that templates may count on. */
export function errorObject(said: JsonValue | undefined, fallback: string): JsonObject {
  if (typeof said === 'string' && said !== '') return { ...engineError('unknown', said, 'worker') }
  if (!isJsonObject(said)) return engineError('unknown', fallback, 'worker')
  const { kind, message, http_status: httpStatus } = said
  const error: JsonObject = {
    retryable: false,
    code: null,
    source: 'worker',
    ...said,
    kind: typeof kind === 'string' ? kind : 'unknown',
    message: typeof message === 'string' ? message : fallback,
  }
  if (httpStatus !== undefined && !Object.hasOwn(error, 'status')) error['status'] = httpStatus
  return error
}

export function messageOf(error: JsonObject): string {
  const { message } = error
  return typeof message === 'string' ? message : 'unknown error'
}

/** A failure of one step found while deciding: it takes the way of every failed step. */
export class StepFailure extends Error {
  constructor(readonly error: JsonObject) {
    super(messageOf(error))
  }
}

/** Values that are stored elsewhere and must be at hand before this can be decided. */
export class MissingValues extends Error {
  constructor(readonly refs: readonly string[]) {
    super(`needs ${refs.join(', ')}`)
  }
}
