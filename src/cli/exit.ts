// Exit codes, documented in docs/commands.md. A new error code does not compile until it has one.
import type { ErrorCode } from '../errors.js'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  difference: 5,
  unavailable: 69,
  workRemains: 75,
  badConfig: 78,
} as const

export const EXIT_OF: Record<ErrorCode, number> = {
  invalid_input: EXIT.usage,
  too_large: EXIT.usage,
  refused: EXIT.refused,
  illegal_transition: EXIT.refused,
  forbidden: EXIT.refused,
  unverified: EXIT.refused,
  not_found: EXIT.notFound,
  conflict: EXIT.refused,
  lost_claim: EXIT.refused,
  unavailable: EXIT.unavailable,
  timeout: EXIT.unavailable,
  overloaded: EXIT.unavailable,
  saturated: EXIT.unavailable,
  cancelled: EXIT.failed,
  corrupt: EXIT.failed,
  schema_mismatch: EXIT.badConfig,
  config: EXIT.badConfig,
  internal: EXIT.failed,
}
