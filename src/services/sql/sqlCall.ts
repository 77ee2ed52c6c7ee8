// One statement of an operator on the cluster database, on a connection of its own. Off unless a setting says otherwise.

import { createConnection } from '../../db/connection.js'
import type { Databases } from '../../db/databases.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { ARRAYS, pgParam, pgValue } from '../../domain/tool/pgValues.js'
import { CpError } from '../../errors.js'

export interface SqlCallDeps {
  databases: Databases
  enabled: boolean
  onCall(): void
}

export interface SqlCall {
  query: string
  parameters: readonly JsonValue[]
}

export interface SqlAnswer {
  command: string
  count: number
  rows: JsonObject[]
}

const DEADLINE_MS = 30_000
const BYTES_MAX = 8 * 1_048_576
const CLOSE_MS = 1_000

export async function callSql(deps: SqlCallDeps, call: SqlCall): Promise<SqlAnswer> {
  if (!deps.enabled) {
    throw new CpError('forbidden', 'SQL over HTTP is off; NOETL_CP_SQL_ROUTE=true turns it on for the internal token')
  }
  deps.onCall()
  const connection = createConnection(deps.databases.cluster.settings)
  try {
    const limits = { deadlineMs: DEADLINE_MS, bytesMax: BYTES_MAX }
    const { command, count, columns, rows } = await connection.raw(call.query, call.parameters.map(pgParam), limits)
    const types = { numeric: 'text', arrays: ARRAYS } as const
    return {
      command,
      count: columns === undefined ? count : rows.length,
      rows: rows.map((row) =>
        Object.fromEntries(
          (columns ?? []).map(({ name, type }, index) => {
            const value = row[index]
            return [name, value == null ? null : pgValue(value.toString(), type, types)]
          }),
        ),
      ),
    }
  } finally {
    await connection.close(CLOSE_MS)
  }
}
