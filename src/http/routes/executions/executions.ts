// Reads and control of executions. Ids go out as numbers, as in the NoETL server; the list is a bare array and
// everything about paging is in headers.

import { parseWireTime, wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { formatCursor, parseCursor, pathPattern } from '../../../domain/executions/executionPage.js'
import { parseCatalogId, parseEventId, parseExecutionId } from '../../../domain/ids/ids.js'
import { integerValue, isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import { type WholeEventDeps, wholeEvent } from '../../../services/events/wholeEvent.js'
import { cancelExecution } from '../../../services/executions/cancellation.js'
import {
  type ExecutionQueriesDeps,
  type ExecutionRow,
  executionDetail,
  executionStatus,
  findExecution,
  pageOfExecutions,
} from '../../../services/executions/executionQueries.js'
import { type ExecutionsDeps, endExecution } from '../../../services/executions/executions.js'
import type { StepProgress } from '../../../services/executions/stepProgress.js'
import type { RouteSpec } from '../../route.js'
import { traceContextOf } from '../../traceContext.js'

export interface ExecutionRouteDeps {
  queries: ExecutionQueriesDeps & { stepProgress: StepProgress }
  wholeEvents: WholeEventDeps
  /** Where a page of large things ends. */
  pageBytes: number
  executions: ExecutionsDeps
}

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100
const OFFSET_MAX = 10_000
const EVENTS_MAX = 2_000

export function executionRoutes(deps: ExecutionRouteDeps): RouteSpec[] {
  return [listRoute(deps), ...readRoutes(deps), ...controlRoutes(deps)]
}

function listRoute({ queries }: ExecutionRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/executions',
    summary: 'Executions, newest first',
    access: 'public',
    query: {
      catalog_id: { format: 'int64' },
      path: { type: 'string', description: 'exact, or a prefix that ends in *' },
      status: { type: 'string' },
      since: { type: 'string', format: 'date-time' },
      until: { type: 'string', format: 'date-time' },
      limit: { type: 'integer', default: LIMIT_DEFAULT, description: `at most ${LIMIT_MAX}` },
      offset: { type: 'integer', minimum: 0, maximum: OFFSET_MAX, description: 'prefer cursor' },
      cursor: { type: 'string', description: 'X-Noetl-Next-Cursor of the page before' },
    },
    responses: {
      200: { type: 'array', description: 'the page; X-Noetl-Has-More, X-Noetl-Next-Cursor, X-Noetl-Failed-Shards' },
      400: 'malformed',
    },
    handler: async ({ query }) => {
      const limit = Math.min(LIMIT_MAX, Math.max(1, Number(query['limit'] ?? LIMIT_DEFAULT)))
      const offset = Number(query['offset'] ?? 0)
      const page = await pageOfExecutions(queries, {
        status: query['status']?.toUpperCase() ?? null,
        catalogId: query['catalog_id'] === undefined ? null : parseCatalogId(query['catalog_id'], 'catalog_id'),
        pathPattern: pathPattern(query['path']),
        since: parseWireTime(query['since'], 'since') ?? null,
        until: parseWireTime(query['until'], 'until') ?? null,
        after: query['cursor'] === undefined ? null : parseCursor(query['cursor']),
        limit: limit + offset,
      })
      const headers: Record<string, string> = {
        'x-noetl-limit-applied': String(limit),
        'x-noetl-has-more': String(page.next !== undefined),
      }
      if (page.next !== undefined) headers['x-noetl-next-cursor'] = formatCursor(page.next)
      if (page.failures.length > 0)
        headers['x-noetl-failed-shards'] = page.failures.map((failure) => failure.shard).join(',')
      return { headers, body: page.rows.slice(offset).map(summaryOf) }
    },
  }
}

function readRoutes({ queries, wholeEvents, pageBytes }: ExecutionRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id',
      summary: `One execution with its latest events (at most ${EVENTS_MAX})`,
      access: 'public',
      isLarge: true,
      responses: {
        200: {
          type: 'object',
          description:
            'columns above 256 KB, and those of older events on a page that is full, are {_left_out: the route of that one event}',
        },
        404: 'unknown execution',
      },
      handler: async ({ params }) => {
        const { row, workload, events } = await executionDetail(queries, idOf(params), EVENTS_MAX, pageBytes)
        return {
          body: {
            ...summaryOf(row),
            parent_execution_id: number(row.parent_execution_id),
            workload,
            error: row.error,
            events: events.reverse().map((event) => ({
              event_id: number(event.event_id),
              event_type: event.event_type,
              node_name: event.node_name,
              status: event.status,
              created_at: wireTimeFromPostgres(event.created_at, 'created_at'),
              result: event.result,
              error: event.error,
            })),
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/events/:event_id',
      summary: 'One event with all its columns, whatever their size',
      access: 'public',
      isLarge: true,
      responses: { 200: { type: 'object' }, 404: 'unknown event', 413: 'more than 64 MB' },
      handler: async ({ params }) => ({
        bytes: await wholeEvent(wholeEvents, idOf(params), parseEventId(params['event_id'], 'event_id')),
      }),
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/status',
      summary: 'Status and progress',
      access: 'public',
      responses: { 200: { type: 'object' }, 404: 'unknown execution' },
      handler: async ({ params }) => {
        const { row, progress } = await executionStatus(queries, idOf(params))
        return {
          body: {
            execution_id: number(row.execution_id),
            status: row.status,
            current_step: row.last_node_name,
            progress: {
              total_steps: progress.total,
              completed_steps: progress.completed,
              running_steps: progress.running,
              failed_steps: progress.failed,
            },
            is_cancelled: row.status === 'CANCELLED',
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/cancellation-check',
      summary: 'Whether the execution was cancelled',
      access: 'public',
      responses: { 200: { type: 'object' }, 404: 'unknown execution' },
      handler: async ({ params }) => {
        const row = await findExecution(queries, idOf(params))
        return { body: { execution_id: number(row.execution_id), is_cancelled: row.status === 'CANCELLED' } }
      },
    },
  ]
}

function controlRoutes({ executions }: ExecutionRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/executions/:execution_id/cancel',
      summary: 'Cancel an execution, with cascade everything that runs below it',
      access: 'public',
      body: {
        type: 'object',
        properties: { reason: { type: 'string', nullable: true, maxLength: 2000 }, cascade: { type: 'boolean' } },
      },
      bodyOptional: true,
      responses: {
        200: { type: 'object' },
        404: 'unknown execution',
        422: 'already ended; with cascade: and nothing below it runs',
      },
      handler: async ({ params, body, headers }) => {
        const executionId = idOf(params)
        const traceContext = traceContextOf(headers)
        const options = isJsonObject(body) ? body : {}
        const reason = typeof options['reason'] === 'string' ? options['reason'] : undefined
        const cascade = options['cascade'] === true
        const { status, children } = await cancelExecution(executions, { executionId, reason, cascade, traceContext })
        return {
          body: {
            execution_id: number(executionId),
            status: status.toLowerCase(),
            message: 'Execution cancellation requested',
            cancelled_children: children.map((child) => number(child)),
          },
        }
      },
    },
    {
      method: 'POST',
      path: '/api/executions/:execution_id/finalize',
      summary: 'End an execution by hand',
      access: 'public',
      bodySize: 'event',
      body: {
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'string' }, error: { type: 'string', nullable: true, maxLength: 100_000 } },
      },
      responses: { 200: { type: 'object' }, 404: 'unknown execution', 422: 'already ended, or another status' },
      handler: async ({ params, body, headers }) => {
        const executionId = idOf(params)
        const given = String((body as JsonObject)['status'])
        const outcome = given.toUpperCase()
        if (outcome !== 'COMPLETED' && outcome !== 'FAILED') {
          throw new CpError('refused', `/status must be COMPLETED or FAILED, not ${JSON.stringify(given)}`)
        }
        const error = (body as JsonObject)['error']
        await endExecution(executions, {
          executionId,
          outcome,
          error: typeof error === 'string' ? error : undefined,
          traceContext: traceContextOf(headers),
        })
        return {
          body: {
            execution_id: number(executionId),
            status: outcome,
            message: `Execution finalized with status: ${outcome}`,
          },
        }
      },
    },
  ]
}

function idOf(params: Readonly<Record<string, string>>) {
  return parseExecutionId(params['execution_id'], 'execution_id')
}

function summaryOf(row: ExecutionRow): JsonObject {
  return {
    execution_id: number(row.execution_id),
    catalog_id: number(row.catalog_id),
    path: row.path,
    status: row.status,
    started_at: time(row.start_time),
    completed_at: time(row.end_time),
    event_count: number(row.event_count),
    last_event_id: number(row.last_event_id),
    last_event_type: row.last_event_type,
    current_step: row.last_node_name,
  }
}

function number(text: string | null): JsonValue {
  return text === null ? null : integerValue(BigInt(text))
}

function time(text: string | null): JsonValue {
  return text === null ? null : wireTimeFromPostgres(text, 'time')
}
