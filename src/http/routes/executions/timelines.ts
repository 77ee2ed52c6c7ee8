// GET /api/executions/timelines: a small timeline of each execution of a list.
import { severalOf } from '../../../domain/executions/listFilter.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import type { ExecutionViewsDeps } from '../../../services/executions/executionViews.js'
import { timelinesOf } from '../../../services/executions/timelines.js'
import { missingShards } from '../../missingShards.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, TEXT } from '../../schema.js'

const IDS_MAX = 100

export function timelineRoutes({ queries }: { queries: ExecutionViewsDeps }): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/timelines',
      summary: 'Which steps executions had, when, and how they ended',
      access: 'public',
      effect: 'read',
      isSearch: true,
      query: { ids: { type: 'string', description: `of at most ${IDS_MAX} executions, with commas` } },
      responses: {
        200: {
          type: 'array',
          description: 'those whose steps are known; X-Noetl-Failed-Shards',
          items: answerOf({
            execution_id: TEXT,
            begins_at: { type: 'string', format: 'date-time', description: 'when its first step began' },
            events: COUNT,
            looked_at: { ...COUNT, description: 'fewer than events: so many, spread evenly' },
            steps: {
              type: 'array',
              description: 'the first 24, as they began',
              items: answerOf({
                step: TEXT,
                from_ms: { ...COUNT, description: 'after begins_at' },
                to_ms: { ...COUNT, nullable: true, description: 'null: it goes on' },
                status: TEXT,
              }),
            },
          }),
        },
        400: 'malformed',
      },
      handler: async ({ query }) => {
        const ids = severalOf(query['ids']) ?? []
        if (ids.length > IDS_MAX) {
          throw new CpError('invalid_input', `ids must be at most ${IDS_MAX}`, { details: { field: 'ids' } })
        }
        const { timelines, failures } = await timelinesOf(
          queries,
          ids.map((id) => parseExecutionId(id, 'ids')),
        )
        return {
          headers: missingShards(failures),
          body: timelines.map(({ executionId, beginsAt, events, lookedAt, steps }) => ({
            execution_id: executionId,
            begins_at: beginsAt,
            events,
            looked_at: lookedAt,
            steps: steps.map(({ step, fromMs, toMs, status }) => ({
              step,
              from_ms: fromMs,
              to_ms: toMs ?? null,
              status,
            })),
          })),
        }
      },
    },
  ]
}
