// Postgres and driver errors → our codes. Nothing above this floor sees a SQLSTATE.
import { CpError, type ErrorCode, messageOf } from '../errors.js'

// By class, the first two characters, unless the whole code says more. Only the classes of data blame what was sent.
// Everything a server says about itself is `unavailable`: the same request is good once the server is well.
const BY_CLASS: Readonly<Record<string, ErrorCode>> = {
  '08': 'unavailable', // connection; 08P01 is also what poolers say when they have no server
  '0A': 'unavailable', // not supported: a cached plan that no longer fits, a pooler that cannot do it
  '22': 'invalid_input', // data
  '23': 'refused', // integrity constraint
  '25': 'unavailable', // 25006: a standby, or a server that was made read-only
  '26': 'unavailable', // a prepared statement that a pooler lost
  '28': 'unavailable', // authorization
  '3D': 'unavailable', // no such database
  '3F': 'schema_mismatch', // no such schema
  '40': 'unavailable', // deadlock, serialization: tried again before anybody is told
  '44': 'refused', // check option of a view
  '53': 'unavailable', // disk full, out of memory, limits
  '54': 'invalid_input', // a limit of the server: an index entry that is too large, nesting
  '55': 'unavailable', // not in the state for it: in use, in recovery
  '57': 'unavailable', // ended by an administrator, a crash, or starting up
  '58': 'unavailable', // I/O, missing files
  '72': 'unavailable', // snapshot too old
  F0: 'unavailable', // configuration file
  XX: 'unavailable', // internal error, corrupted data or index
}

const BY_SQLSTATE: Readonly<Record<string, ErrorCode>> = {
  '22012': 'conflict', // division by zero: a row is not as it was expected, see execution_expect
  '23502': 'invalid_input', // not null
  '23505': 'conflict', // unique
  '42501': 'config', // insufficient privilege
  '42704': 'schema_mismatch', // undefined object
  '42703': 'schema_mismatch', // undefined column
  '42804': 'schema_mismatch', // a column of another type
  '42883': 'schema_mismatch', // undefined function
  '42P01': 'schema_mismatch', // undefined table
  '42P05': 'unavailable', // a prepared statement that a pooler kept for somebody else
  '42P10': 'schema_mismatch', // no unique index for the conflict
  '53300': 'overloaded', // too many connections
  '55P03': 'timeout', // lock not available within lock_timeout
  '57014': 'timeout', // statement_timeout
  '25P02': 'internal', // a statement after one that failed; the first one tells
  '25P03': 'timeout', // idle in transaction
  '25P04': 'timeout', // transaction_timeout
}

// What the driver says about our own use of it. Every other code that is no SQLSTATE comes from the network or TLS.
const OUR_MISTAKES = new Set([
  'UNDEFINED_VALUE',
  'NOT_TAGGED_CALL',
  'MAX_PARAMETERS_EXCEEDED',
  'INVALID_TRANSACTION',
  'UNSAFE_TRANSACTION',
])

// Node's own: the others mean a value that the driver could not write.
const LINK_ERRORS = /^ERR_(TLS|SSL|SOCKET|STREAM)_/
const SQLSTATE = /^[0-9A-Z]{5}$/
// Five capitals as well, but the operating system's.
const NO_SQLSTATE = new Set(['EPIPE', 'EPERM', 'EBUSY', 'EBADF', 'EROFS'])

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
  const code = sqlstate === undefined ? 'internal' : errorCodeOf(sqlstate)
  return new CpError(code, `${what} on ${database}: ${messageOf(error)}${nextStep(code, sqlstate)}`, {
    cause: error,
    details: { database, sqlstate, constraint: constraintOf(error) },
  })
}

function errorCodeOf(sqlstate: string): ErrorCode {
  return BY_SQLSTATE[sqlstate] ?? BY_CLASS[sqlstate.slice(0, 2)] ?? 'internal'
}

function nextStep(code: ErrorCode, sqlstate: string | undefined): string {
  if (code === 'schema_mismatch') return '; the schema does not fit this binary: see "noetl-cp migrate --dry-run"'
  if (code === 'config') return '; grant the rights on rows that the README lists under production'
  if (sqlstate === '25006') return '; is this a standby, or was the server made read-only?'
  if (sqlstate?.startsWith('26') === true || sqlstate === '42P05')
    return '; behind PgBouncer in transaction mode set NOETL_PG_STATEMENT_CACHE_CAPACITY=0'
  if (sqlstate?.startsWith('40') === true) return '; others kept getting in the way: try again'
  return ''
}

export function sqlstateOf(error: unknown): string | undefined {
  return error instanceof CpError ? codeOf(error.cause) : codeOf(error)
}

/**
 * The connection itself is gone or worth nothing, not just one statement refused. A link to a server that became a
 * standby would stay there for ever: only a new one finds the primary. The same goes for plans that a server or pooler
 * does not know any more.
 */
export function isConnectionError(error: unknown): boolean {
  const code = sqlstateOf(error)
  if (code === undefined) return false
  return (
    isNetworkCode(code) || code.startsWith('57P') || DISCARDING_CLASSES.has(code.slice(0, 2)) || DISCARDING.has(code)
  )
}

const DISCARDING_CLASSES = new Set(['08', '26'])
const DISCARDING = new Set(['25006', '25P03', '25P04', '0A000', '42P05'])

/** Two transactions got in each other's way; the whole transaction may be run again. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE_SQLSTATES.has(sqlstateOf(error) ?? '')
}

function isNetworkCode(code: string): boolean {
  if (SQLSTATE.test(code)) return NO_SQLSTATE.has(code)
  return !OUR_MISTAKES.has(code) && (!code.startsWith('ERR_') || LINK_ERRORS.test(code))
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
