// The one error type that crosses our own floors. A code says what kind of trouble it is; what that
// means as an HTTP status or an exit code is decided by http/errors.ts and cli/exit.ts alone.

export const ERROR_CODES = [
  'invalid_input', // malformed: the caller must change the request
  'too_large', // a body, payload or batch beyond its bound
  'refused', // well formed, but not allowed as things are
  'illegal_transition', // refused because of a state machine
  'forbidden', // the credential is missing or wrong
  'unverified', // a message whose signature or token is missing or wrong
  'not_found',
  'conflict', // the same id with other content, or a lost race
  'lost_claim', // a lease that is no longer ours
  'unavailable', // a server we depend on cannot be reached
  'timeout', // a deadline of ours passed; the outcome may be unknown
  'overloaded', // a bounded queue is full
  'saturated', // as much of it as is allowed is under way, or it is paused
  'cancelled', // stopped on request
  'corrupt', // stored data that cannot be understood
  'schema_mismatch', // the database is older or newer than this binary
  'config', // a setting is missing or wrong
  'internal', // our own mistake
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

export interface CpErrorOptions {
  cause?: unknown
  /** Plain data for machines: ids, field names, limits. Never payloads or secrets. */
  details?: Record<string, unknown>
}

/** Messages say what was wrong, with which id, and what to do next. */
export class CpError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: CpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CpError'
    this.code = code
    this.details = options.details ?? {}
  }
}

const TRANSIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unavailable',
  'timeout',
  'overloaded',
  'saturated',
  'lost_claim',
])

/** Worth trying again without anybody changing anything. */
export function isTransient(error: unknown): boolean {
  return error instanceof CpError && TRANSIENT.has(error.code)
}

const OWN_TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([...TRANSIENT, 'schema_mismatch', 'config'])

/**
 * A server, a schema or a setting of ours: the same message is good once that is mended. Whoever quarantines, gives up
 * or refuses a message for good asks this first.
 */
export function isOwnTrouble(error: unknown): boolean {
  return error instanceof CpError && OWN_TROUBLE.has(error.code)
}

/** Anything thrown, as a CpError: foreign errors become `internal` and stay reachable as the cause. */
export function toCpError(error: unknown): CpError {
  if (error instanceof CpError) return error
  return new CpError('internal', messageOf(error), { cause: error })
}

/** The text of anything thrown; some libraries throw values that are not errors at all. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return String(error)
}
