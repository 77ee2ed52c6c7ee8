// What went wrong with a database, in the words of playbooks.
import { isConnectionError, sqlstateOf } from '../../db/pgErrors.js'
import type { JsonObject } from '../../domain/json/value.js'
import { type FailureKind, ToolFailure } from '../../domain/tool/toolFailure.js'
import { CpError } from '../../errors.js'

export function toPgFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error
  const code = sqlstateOf(error)
  const isCpError = error instanceof CpError
  if (isCpError && error.code === 'too_large') return new ToolFailure('schema', error.message)
  if (isCpError && error.code === 'timeout' && code === undefined) {
    return new ToolFailure('db_timeout', error.message, { cause: error })
  }
  const server = serverError(error)
  if (server === undefined) {
    const kind = isCpError && (error.code === 'unavailable' || isConnectionError(error)) ? 'db_connection' : 'db_error'
    return new ToolFailure(kind, (error as Error).message, { ...(code === undefined ? {} : { code }), cause: error })
  }
  const sqlstate = code as string
  return new ToolFailure(kindOf(sqlstate), server.message, {
    code: `PG_${sqlstate}`,
    pgCode: sqlstate,
    details: detailsOf(server),
    cause: error,
  })
}

type ServerError = Error & Record<string, unknown>

/** What the server itself said; undefined when it was never asked. */
function serverError(error: unknown): ServerError | undefined {
  const cause = error instanceof CpError ? error.cause : error
  return cause instanceof Error && 'severity' in cause ? (cause as ServerError) : undefined
}

function kindOf(sqlstate: string): FailureKind {
  if (sqlstate === '40001' || sqlstate === '40P01') return 'db_deadlock'
  if (sqlstate === '57014' || sqlstate === '55P03') return 'db_timeout'
  if (sqlstate.startsWith('08') || sqlstate.startsWith('53') || sqlstate.startsWith('57P')) return 'db_connection'
  if (sqlstate.startsWith('23')) return 'db_constraint'
  return 'db_error'
}

const DETAILS = ['detail', 'hint', 'where', 'position', 'schema_name', 'table_name', 'column_name', 'constraint_name']

function detailsOf(server: ServerError): JsonObject | undefined {
  const details: JsonObject = {}
  for (const name of DETAILS) if (typeof server[name] === 'string') details[name] = server[name]
  return Object.keys(details).length === 0 ? undefined : details
}
