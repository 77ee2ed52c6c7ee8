// Postgres and driver errors → our codes. Nothing above this floor sees a SQLSTATE.
import { CpError, type ErrorCode, messageOf } from '../errors.js'

const BY_SQLSTATE: Readonly<Record<string, ErrorCode>> = {
  '22P02': 'invalid_input', // invalid text representation
  '22P05': 'invalid_input', // untranslatable character (\u0000 in jsonb)
  '22003': 'invalid_input', // number out of range
  '22007': 'invalid_input', // invalid datetime
  '22008': 'invalid_input',
  '22021': 'invalid_input', // character not in repertoire
  '23502': 'invalid_input', // not null
  '23503': 'refused', // foreign key
  '23505': 'conflict', // unique
  '23514': 'refused', // check
  '40001': 'conflict', // serialization failure
  '40P01': 'conflict', // deadlock
  '42P01': 'schema_mismatch', // undefined table
  '42703': 'schema_mismatch', // undefined column
  '42883': 'schema_mismatch', // undefined function
  '3F000': 'schema_mismatch', // undefined schema
  '42501': 'refused', // insufficient privilege
  '53300': 'overloaded', // too many connections
  '53100': 'unavailable', // disk full
  '53200': 'unavailable', // out of memory
  '54000': 'invalid_input', // a limit of the server: an index entry that is too large
  '54001': 'invalid_input', // statement too complex: nesting
  '55P03': 'timeout', // lock not available within lock_timeout
  '57014': 'timeout', // statement_timeout
  '57P01': 'unavailable', // terminated by an administrator
  '57P02': 'unavailable', // crash of the server
  '57P03': 'unavailable', // starting up
  '25P03': 'timeout', // idle in transaction
  '28P01': 'unavailable', // wrong password
  '28000': 'unavailable',
  '3D000': 'unavailable', // no such database
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
])

const RETRYABLE_SQLSTATES = new Set(['40001', '40P01'])

export function toDbError(error: unknown, what: string, database: string): CpError {
  if (error instanceof CpError) return error
  const sqlstate = codeOf(error)
  if (sqlstate !== undefined && isNetworkCode(sqlstate)) {
    return new CpError('unavailable', `cannot reach the database ${database} (${sqlstate}); is it running?`, {
      cause: error,
      details: { database },
    })
  }
  const code = (sqlstate !== undefined && BY_SQLSTATE[sqlstate]) || 'internal'
  const hint =
    code === 'schema_mismatch' ? '; the schema does not fit this binary: see "noetl-cp migrate --dry-run"' : ''
  return new CpError(code, `${what} on ${database}: ${messageOf(error)}${hint}`, {
    cause: error,
    details: { database, sqlstate, constraint: constraintOf(error) },
  })
}

export function sqlstateOf(error: unknown): string | undefined {
  return error instanceof CpError ? codeOf(error.cause) : codeOf(error)
}

/** The connection itself is gone, not just one statement refused. */
export function isConnectionError(error: unknown): boolean {
  const code = sqlstateOf(error)
  if (code === undefined) return false
  return isNetworkCode(code) || code.startsWith('57P') || code.startsWith('08') || code === '25P03'
}

/** Two transactions got in each other's way; the whole transaction may be run again. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE_SQLSTATES.has(sqlstateOf(error) ?? '')
}

function isNetworkCode(code: string): boolean {
  return NETWORK_CODES.has(code)
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}

function constraintOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'constraint_name' in error
    ? String(error.constraint_name)
    : undefined
}
