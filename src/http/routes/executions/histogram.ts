// GET /api/executions/histogram: when executions began, by status, for the chart above their list.
import type { Clock } from '../../../runtime/clock.js'
import type { ExecutionViewsDeps } from '../../../services/executions/executionViews.js'
import { executionHistogram } from '../../../services/executions/histogram.js'
import { missingShards } from '../../missingShards.js'
import type { RouteSpec } from '../../route.js'
import { answerOf } from '../../schema.js'
import { FILTER_QUERY, filterOf } from './filters.js'

export interface HistogramRouteDeps {
  queries: ExecutionViewsDeps
  clock: Clock
}

const BUCKETS_MAX = 200
const TIME = { type: 'string', format: 'date-time' } as const

export function histogramRoutes({ queries, clock }: HistogramRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/histogram',
      summary: 'How many executions began in each span of time, by status',
      access: 'public',
      effect: 'read',
      isSearch: true,
      query: { ...FILTER_QUERY, buckets: { type: 'integer', minimum: 1, maximum: BUCKETS_MAX, default: 60 } },
      responses: {
        200: {
          type: 'array',
          description:
            'every span, also those without any; X-Noetl-Truncated: it begins later than asked, with the newest 100,000; X-Noetl-Failed-Shards',
          items: answerOf({ from: TIME, to: TIME, by_status: { type: 'object', description: 'status → number' } }),
        },
        400: 'malformed',
      },
      handler: async ({ query }) => {
        const count = Number(query['buckets'] ?? 60)
        const { buckets, isCut, failures } = await executionHistogram({ ...queries, clock }, filterOf(query), count)
        return {
          headers: { 'x-noetl-truncated': String(isCut), ...missingShards(failures) },
          body: buckets.map(({ from, to, byStatus }) => ({ from, to, by_status: byStatus })),
        }
      },
    },
  ]
}
