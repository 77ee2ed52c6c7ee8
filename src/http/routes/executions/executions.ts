// Reads and control of executions, in the shapes of the NoETL servers (shapes.ts). The list is a bare array and everything
// about its paging is in headers.
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { formatCursor, parseCursor } from '../../../domain/executions/executionPage.js'
import { parseEventId, parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import { type WholeEventDeps, wholeEvent } from '../../../services/events/wholeEvent.js'
import { cancelExecution } from '../../../services/executions/cancellation.js'
import { executionStatus, findExecution } from '../../../services/executions/executionQueries.js'
import { type ExecutionsDeps, endExecution } from '../../../services/executions/executions.js'
import {
  type ExecutionViewsDeps,
  listedExecutions,
  shownExecution,
} from '../../../services/executions/executionViews.js'
import type { Caller } from '../../callers.js'
import { missingShards } from '../../missingShards.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, ID, TEXT } from '../../schema.js'
import { traceContextOf } from '../../traceContext.js'
import { FILTER_QUERY, filterOf } from './filters.js'
import {
  CANCELLATION,
  cancellationOf,
  detailOf,
  EXECUTION_DETAIL,
  EXECUTION_LIST,
  EXECUTION_STATUS,
  number,
  statusOf,
  summaryOf,
  WHOLE_EVENT,
} from './shapes.js'

export interface ExecutionRouteDeps {
  queries: ExecutionViewsDeps
  wholeEvents: WholeEventDeps
  /** Where a page of large things ends. */
  pageBytes: number
  executions: ExecutionsDeps
  clock: Clock
}

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100
const OFFSET_MAX = 10_000
const EVENTS_MAX = 2_000
const PAGES_MAX = 1_000_000
const EVENT_PARTS = ['context', 'result', 'meta', 'error', 'stack_trace', 'payload_ref', 'trace_component']
const PART_BYTES_MAX = 8 * 1_048_576

export function executionRoutes(deps: ExecutionRouteDeps): RouteSpec[] {
  return [listRoute(deps), ...readRoutes(deps), ...controlRoutes(deps)]
}

function listRoute({ queries, clock }: ExecutionRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/executions',
    summary: 'Executions, by when they began',
    access: 'public',
    effect: 'read',
    isSearch: true,
    query: {
      ...FILTER_QUERY,
      order: { type: 'string', enum: ['newest', 'oldest'], default: 'newest', description: 'which come first' },
      limit: { type: 'integer', default: LIMIT_DEFAULT, description: `at most ${LIMIT_MAX}` },
      offset: { type: 'integer', minimum: 0, maximum: OFFSET_MAX, description: 'prefer cursor' },
      cursor: { type: 'string', description: 'X-Noetl-Next-Cursor of the page before' },
    },
    responses: {
      200: EXECUTION_LIST,
      400: 'malformed',
    },
    handler: async ({ query }) => {
      const limit = Math.min(LIMIT_MAX, Math.max(1, Number(query['limit'] ?? LIMIT_DEFAULT)))
      const offset = Number(query['offset'] ?? 0)
      const page = await listedExecutions(queries, {
        ...filterOf(query),
        isOldestFirst: query['order'] === 'oldest',
        after: query['cursor'] === undefined ? null : parseCursor(query['cursor']),
        limit: limit + offset,
      })
      const headers: Record<string, string> = {
        'x-noetl-limit-applied': String(limit),
        'x-noetl-has-more': String(page.next !== undefined),
        ...missingShards(page.failures),
      }
      if (page.next !== undefined) headers['x-noetl-next-cursor'] = formatCursor(page.next)
      if (page.lookedUntil !== undefined)
        headers['x-noetl-looked-until'] = wireTimeFromPostgres(page.lookedUntil, 'start_time')
      return { headers, body: page.rows.slice(offset).map((row) => summaryOf(row, clock.now())) }
    },
  }
}

function readRoutes({ queries, wholeEvents, pageBytes, clock }: ExecutionRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id',
      summary: 'One execution with its events, newest first, page by page',
      access: 'public',
      effect: 'read',
      isLarge: true,
      query: {
        page: { type: 'integer', minimum: 1, maximum: PAGES_MAX, default: 1 },
        page_size: { type: 'integer', minimum: 1, maximum: EVENTS_MAX, default: EVENTS_MAX },
        since_event_id: { format: 'int64', description: 'events after this one alone' },
        event_type: { type: 'string', description: 'events of this type alone' },
        events: { type: 'integer', minimum: 0, maximum: EVENTS_MAX, description: 'page_size by another name; 0: none' },
      },
      responses: { 200: EXECUTION_DETAIL, 400: 'malformed', 404: 'unknown execution' },
      handler: async ({ params, query }) => {
        const page = Number(query['page'] ?? 1)
        const pageSize = Number(query['events'] ?? query['page_size'] ?? EVENTS_MAX)
        const since = query['since_event_id']
        const wanted = {
          limit: pageSize,
          offset: (page - 1) * pageSize,
          sinceEventId: since === undefined ? null : parseEventId(since, 'since_event_id'),
          eventType: query['event_type'] ?? null,
        }
        const detail = await shownExecution(queries, idOf(params), wanted, pageBytes)
        return { body: detailOf(detail, { page, pageSize }, clock.now()) }
      },
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/events/:event_id',
      summary: 'One event with all its columns, whatever their size',
      access: 'public',
      effect: 'read',
      isLarge: true,
      query: {
        part: { type: 'string', enum: EVENT_PARTS, description: 'this column alone' },
        bytes: {
          type: 'integer',
          minimum: 0,
          maximum: PART_BYTES_MAX,
          description: 'with part: {part, total_bytes, is_cut, text}, where text is so many bytes of its JSON',
        },
      },
      responses: { 200: WHOLE_EVENT, 404: 'unknown event', 413: 'more than 64 MB' },
      handler: async ({ params, query }) => {
        const { part: name, bytes } = query
        if (name === undefined && bytes !== undefined) throw new CpError('invalid_input', 'bytes needs part')
        const part =
          name === undefined ? undefined : { name, bytesMax: bytes === undefined ? undefined : Number(bytes) }
        const eventId = parseEventId(params['event_id'], 'event_id')
        return { bytes: await wholeEvent(wholeEvents, idOf(params), eventId, part) }
      },
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/status',
      summary: 'Status and progress',
      access: 'public',
      effect: 'read',
      responses: { 200: EXECUTION_STATUS, 404: 'unknown execution' },
      handler: async ({ params }) => {
        const { row, progress } = await executionStatus(queries, idOf(params))
        return { body: statusOf(row, progress, clock.now()) }
      },
    },
    {
      method: 'GET',
      path: '/api/executions/:execution_id/cancellation-check',
      summary: 'Whether the execution was cancelled',
      access: 'public',
      effect: 'read',
      responses: { 200: CANCELLATION, 404: 'unknown execution' },
      handler: async ({ params }) => ({ body: cancellationOf(await findExecution(queries, idOf(params))) }),
    },
  ]
}

function controlRoutes({ executions }: ExecutionRouteDeps): RouteSpec[] {
  const cancel = (verb: 'cancel' | 'stop'): RouteSpec => ({
    method: 'POST',
    path: `/api/executions/:execution_id/${verb}`,
    summary: 'Cancel an execution, with cascade everything that runs below it; one that has ended stays as it is',
    access: 'public',
    effect: 'write',
    body: {
      type: 'object',
      properties: { reason: { type: 'string', nullable: true, maxLength: 2000 }, cascade: { type: 'boolean' } },
    },
    bodyOptional: true,
    responses: {
      200: {
        type: 'object',
        properties: {
          execution_id: { format: 'int64' },
          status: { type: 'string' },
          message: { type: 'string' },
          cancelled_executions: { type: 'array', items: { type: 'string' } },
          cancelled_children: { type: 'array', items: { format: 'int64' } },
        },
      },
      404: 'unknown execution',
    },
    handler: async ({ params, body, headers, caller }) => {
      const executionId = idOf(params)
      const traceContext = traceContextOf(headers)
      const options = isJsonObject(body) ? body : {}
      const reason = typeof options['reason'] === 'string' ? options['reason'] : undefined
      const cascade = options['cascade'] === true
      const { status, children } = await cancelExecution(executions, {
        executionId,
        reason,
        actor: actorOf(caller),
        cascade,
        traceContext,
        endedIsFine: true,
      })
      const isCancelled = status === 'CANCELLED'
      return {
        body: {
          execution_id: number(executionId),
          status: status.toLowerCase(),
          message: isCancelled ? 'Execution cancellation requested' : `Execution is already ${status}`,
          cancelled_executions: isCancelled ? [executionId, ...children] : children,
          cancelled_children: children.map((child) => number(child)),
        },
      }
    },
  })
  return [
    cancel('cancel'),
    cancel('stop'),
    {
      method: 'POST',
      path: '/api/executions/:execution_id/finalize',
      summary: 'End an execution by hand',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      body: {
        type: 'object',
        required: ['status'],
        properties: {
          status: { type: 'string' },
          error: { type: 'string', nullable: true, maxLength: 100_000 },
          reason: { type: 'string', nullable: true, maxLength: 2_000, description: 'kept in the event' },
        },
      },
      responses: {
        200: answerOf({ execution_id: ID, status: TEXT, event_id: ID, message: TEXT }),
        404: 'unknown execution',
        422: 'already ended, or another status',
      },
      handler: async ({ params, body, headers, caller }) => {
        const executionId = idOf(params)
        const given = String((body as JsonObject)['status'])
        const outcome = given.toUpperCase()
        if (outcome !== 'COMPLETED' && outcome !== 'FAILED') {
          throw new CpError('refused', `/status must be COMPLETED or FAILED, not ${JSON.stringify(given)}`)
        }
        const { error, reason } = body as JsonObject
        const { eventId } = await endExecution(executions, {
          executionId,
          outcome,
          error: typeof error === 'string' ? error : undefined,
          reason: typeof reason === 'string' ? reason : undefined,
          actor: actorOf(caller),
          traceContext: traceContextOf(headers),
        })
        return {
          body: {
            execution_id: number(executionId),
            status: outcome,
            event_id: number(eventId),
            message: `Execution finalized with status: ${outcome}`,
          },
        }
      },
    },
  ]
}

/** Nobody is named where nobody is known. */
function actorOf({ by, actor }: Caller): string | undefined {
  return by === 'nothing' ? undefined : actor
}

function idOf(params: Readonly<Record<string, string>>) {
  return parseExecutionId(params['execution_id'], 'execution_id')
}
