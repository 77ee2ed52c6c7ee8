// GET /api/executions/{id}/events: a window of the log by place, for lists that can be scrolled anywhere.
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { anywherePattern, idAmong, severalOf } from '../../../domain/executions/listFilter.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { floatValue, type JsonObject } from '../../../domain/json/value.js'
import { eventWindow, type WindowEvent } from '../../../services/events/eventWindow.js'
import type { ExecutionViewsDeps } from '../../../services/executions/executionViews.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface EventWindowRouteDeps {
  queries: ExecutionViewsDeps
}

const LIMIT_MAX = 1_000
const PLACE_MAX = 100_000_000

const EVENT: Schema = answerOf({
  position: COUNT,
  event_id: TEXT,
  stream_version: TEXT_OR_NULL,
  event_type: TEXT_OR_NULL,
  node_id: TEXT_OR_NULL,
  node_name: TEXT_OR_NULL,
  node_type: TEXT_OR_NULL,
  status: TEXT_OR_NULL,
  worker_id: TEXT_OR_NULL,
  timestamp: { type: 'string', format: 'date-time' },
  duration: { type: 'number', nullable: true },
  error: { type: 'string', nullable: true, description: 'its first 500 characters' },
  bytes: answerOf({ context: COUNT, result: COUNT, meta: COUNT }, 'as stored, about'),
})

export function eventWindowRoutes({ queries }: EventWindowRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/events',
      summary: 'A window of the events of an execution, by place in id order',
      access: 'public',
      effect: 'read',
      isSearch: true,
      query: {
        from: {
          type: 'integer',
          minimum: 1,
          maximum: PLACE_MAX,
          default: 1,
          description: 'place of the first, from 1; among those that match, and from the newest with order=desc',
        },
        limit: { type: 'integer', minimum: 0, maximum: LIMIT_MAX, default: 100 },
        order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
        type: { type: 'string', description: 'event types, with commas' },
        step: { type: 'string', description: 'names of steps, with commas' },
        status: { type: 'string', description: 'with commas, whatever the case' },
        q: { type: 'string', maxLength: 200, description: 'in type, step, node, worker or error; or an event id' },
      },
      responses: {
        200: answerOf({
          execution_id: TEXT,
          total: { type: 'integer', description: 'of all that match' },
          from: COUNT,
          order: TEXT,
          events: { type: 'array', items: EVENT },
        }),
        400: 'malformed',
        404: 'unknown execution',
      },
      handler: async ({ params, query }) => {
        const id = parseExecutionId(params['execution_id'], 'execution_id')
        const from = Number(query['from'] ?? 1)
        const order = query['order'] ?? 'asc'
        const { total, events } = await eventWindow(
          queries,
          id,
          { offset: from - 1, limit: Number(query['limit'] ?? 100), newestFirst: order === 'desc' },
          {
            types: severalOf(query['type']),
            steps: severalOf(query['step']),
            statuses: severalOf(query['status']?.toLowerCase()),
            pattern: anywherePattern(query['q']),
            eventId: idAmong(query['q']),
          },
        )
        return { body: { execution_id: id, total, from, order, events: events.map(eventOf) } }
      },
    },
  ]
}

function eventOf(row: WindowEvent): JsonObject {
  return {
    position: row.place,
    event_id: row.event_id,
    stream_version: row.stream_version,
    event_type: row.event_type,
    node_id: row.node_id,
    node_name: row.node_name,
    node_type: row.node_type,
    status: row.status,
    worker_id: row.worker_id,
    timestamp: wireTimeFromPostgres(row.created_at, 'created_at'),
    duration: row.duration === null ? null : floatValue(row.duration),
    error: row.error,
    bytes: { context: row.context_bytes, result: row.result_bytes, meta: row.meta_bytes },
  }
}
