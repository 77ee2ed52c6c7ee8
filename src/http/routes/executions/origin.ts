// GET /api/executions/{id}/origin: who created it and when; of an id that is none, what else has it, its shard and the
// nearest ids there are.
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import type { ExecutionViewsDeps } from '../../../services/executions/executionViews.js'
import { executionOrigin } from '../../../services/executions/origin.js'
import { missingShards } from '../../missingShards.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, TEXT } from '../../schema.js'

const TIME = { type: 'string', format: 'date-time' } as const
const MAYBE = { ...TEXT, nullable: true } as const

export function originRoutes({ queries }: { queries: ExecutionViewsDeps }): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/origin',
      summary: 'Who created an execution and when; of an unknown id, the nearest ids there are',
      access: 'public',
      effect: 'read',
      responses: {
        200: answerOf({
          execution_id: TEXT,
          shard: { ...COUNT, description: 'where it is, or would be' },
          shards: COUNT,
          created: {
            ...answerOf({ at: TIME, catalog_id: TEXT, path: MAYBE, parent_execution_id: MAYBE }),
            nullable: true,
            description: 'null: nobody knows this id',
          },
          instead: {
            ...answerOf({
              kind: { type: 'string', enum: ['subscription', 'catalog'] },
              path: TEXT,
              version: { ...COUNT, nullable: true },
            }),
            nullable: true,
            description: 'what else has this id',
          },
          nearest: {
            type: 'array',
            description: 'of an unknown id, nearest first; X-Noetl-Failed-Shards',
            items: answerOf({ execution_id: TEXT, path: MAYBE, status: TEXT, created_at: TIME }),
          },
        }),
        400: 'malformed',
      },
      handler: async ({ params }) => {
        const id = parseExecutionId(params['execution_id'], 'execution_id')
        const { shard, created, instead, nearest, failures } = await executionOrigin(queries, id)
        return {
          headers: missingShards(failures),
          body: {
            execution_id: id,
            shard,
            shards: queries.databases.shards.length,
            created:
              created === undefined
                ? null
                : {
                    at: wireTimeFromPostgres(created.created_at, 'created_at'),
                    catalog_id: created.catalog_id,
                    path: created.path,
                    parent_execution_id: created.parent_execution_id,
                  },
            instead: instead === undefined ? null : { ...instead },
            nearest: nearest.map(({ created_at: at, ...row }) => ({
              ...row,
              created_at: wireTimeFromPostgres(at, 'created_at'),
            })),
          },
        }
      },
    },
  ]
}
