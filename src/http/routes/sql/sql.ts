// POST /api/postgres/execute: one SQL statement, for the internal token alone, and only where a setting allows it.
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { callSql, type SqlCallDeps } from '../../../services/sql/sqlCall.js'
import type { RouteSpec } from '../../route.js'

export interface SqlRouteDeps {
  sql: SqlCallDeps
}

export function sqlRoutes({ sql }: SqlRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/postgres/execute',
      summary: 'One SQL statement on the cluster database; off unless NOETL_CP_SQL_ROUTE is true',
      access: 'internal',
      effect: 'write',
      isLarge: true,
      body: {
        type: 'object',
        required: ['query'],
        properties: {
          query: { type: 'string', minLength: 1 },
          parameters: { type: 'array', nullable: true, maxItems: 1_000, description: 'values of $1, $2 …' },
        },
      },
      responses: {
        200: {
          type: 'object',
          properties: {
            status: { type: 'string' },
            command: { type: 'string' },
            row_count: { type: 'integer' },
            result: { type: 'array', items: { type: 'object' } },
          },
        },
        400: 'not SQL that can be run',
        403: 'switched off',
      },
      handler: async ({ body }) => {
        const { query, parameters } = body as JsonObject
        const { command, count, rows } = await callSql(sql, {
          query: query as string,
          parameters: (parameters ?? []) as JsonValue[],
        })
        return { body: { status: 'ok', command, row_count: count, result: rows } }
      },
    },
  ]
}
