// Error codes as HTTP statuses, as the NoETL server maps them. A new code does not compile until it has one.
import type { ErrorCode } from '../errors.js'

export const STATUS_OF: Record<ErrorCode, number> = {
  invalid_input: 400,
  too_large: 413,
  refused: 422,
  illegal_transition: 422,
  forbidden: 403,
  unverified: 401,
  not_found: 404,
  conflict: 409,
  lost_claim: 409,
  unavailable: 503,
  timeout: 503,
  overloaded: 503,
  saturated: 429,
  cancelled: 503,
  corrupt: 500,
  schema_mismatch: 503,
  config: 503,
  internal: 500,
}
