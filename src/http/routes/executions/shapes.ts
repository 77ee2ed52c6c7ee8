// Executions and their events on the wire: the fields of both originals beside our own. Ids of an execution in a list or
// a detail are text for everybody; elsewhere they are numbers unless the caller asks otherwise.
import { type WireTime, wireTimeFromPostgres, wireTimeToMicros } from '../../../domain/events/wireTime.js'
import { isTerminalStatus } from '../../../domain/executions/executionStatus.js'
import { lastedSeconds, lastedText } from '../../../domain/executions/lasted.js'
import { floatValue, integerValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import type { ExecutionRow } from '../../../services/executions/executionQueries.js'
import type { ListedView, ShownExecution } from '../../../services/executions/executionViews.js'
import type { StepCounts } from '../../../services/executions/stepProgress.js'
import type { Schema } from '../../schema.js'

const id: Schema = { format: 'int64', nullable: true }
const text: Schema = { type: 'string', nullable: true }
const time: Schema = { type: 'string', format: 'date-time', nullable: true }
const any: Schema = { nullable: true }

const TIMES: Record<string, Schema> = {
  start_time: time,
  end_time: time,
  duration_seconds: { type: 'number', nullable: true },
  duration_human: text,
}

const SUMMARY: Record<string, Schema> = {
  execution_id: { type: 'string' },
  catalog_id: { type: 'string' },
  path: text,
  version: { type: 'integer', nullable: true },
  status: { type: 'string' },
  ...TIMES,
  progress: { type: 'integer', minimum: 0, maximum: 100 },
  result: any,
  error: text,
  parent_execution_id: id,
  started_at: time,
  completed_at: time,
  event_count: { type: 'integer' },
  last_event_id: id,
  last_event_type: text,
  current_step: text,
  labels: { type: 'object', description: 'as given at its start' },
}

export const EXECUTION_EVENT: Schema = {
  type: 'object',
  properties: {
    execution_id: id,
    event_id: id,
    event_type: text,
    node_id: text,
    node_name: text,
    status: text,
    created_at: time,
    timestamp: time,
    context: any,
    result: any,
    error: text,
    catalog_id: id,
    parent_execution_id: id,
    parent_event_id: id,
    duration: { type: 'number', nullable: true },
  },
}

export const WHOLE_EVENT: Schema = {
  ...EXECUTION_EVENT,
  description: 'every column that has a value',
  properties: {
    ...EXECUTION_EVENT.properties,
    stream_version: { type: 'integer' },
    node_type: text,
    worker_id: text,
    meta: any,
    stack_trace: text,
    tenant_id: text,
    organization_id: text,
    event_time: time,
    ingest_time: time,
    envelope_checksum: text,
  },
}

const PAGINATION: Schema = {
  type: 'object',
  properties: {
    page: { type: 'integer' },
    page_size: { type: 'integer' },
    total_events: { type: 'integer' },
    total_pages: { type: 'integer' },
    has_next: { type: 'boolean' },
    has_prev: { type: 'boolean' },
  },
}

export const EXECUTION_LIST: Schema = {
  type: 'array',
  description:
    'the page; X-Noetl-Has-More, X-Noetl-Next-Cursor, X-Noetl-Failed-Shards. By q, step, tenant or seconds one page looks at 50,000 executions on each database and may have fewer rows than asked for, or none: then X-Noetl-Looked-Until is how far back, and the cursor goes on from there',
  items: { type: 'object', properties: SUMMARY },
}

export const EXECUTION_DETAIL: Schema = {
  type: 'object',
  description:
    'columns above 256 KB, and those of older events on a page that is full, are {_left_out: the route of that one event}',
  properties: { ...SUMMARY, workload: any, events: { type: 'array', items: EXECUTION_EVENT }, pagination: PAGINATION },
}

export const EXECUTION_STATUS: Schema = {
  type: 'object',
  properties: {
    execution_id: id,
    status: { type: 'string' },
    current_step: text,
    completed: { type: 'boolean' },
    failed: { type: 'boolean' },
    is_cancelled: { type: 'boolean' },
    completed_steps: { type: 'array', items: { type: 'string' } },
    progress: {
      type: 'object',
      properties: {
        total_steps: { type: 'integer' },
        completed_steps: { type: 'integer' },
        running_steps: { type: 'integer' },
        failed_steps: { type: 'integer' },
      },
    },
    ...TIMES,
    variables: { type: 'object' },
    completion_inferred: { type: 'boolean' },
    error: text,
  },
}

export const CANCELLATION: Schema = {
  type: 'object',
  properties: {
    execution_id: id,
    is_cancelled: { type: 'boolean' },
    cancelled: { type: 'boolean' },
    completed: { type: 'boolean' },
    failed: { type: 'boolean' },
    status: { type: 'string' },
  },
}

export function summaryOf(row: ListedView, nowMs: number): JsonObject {
  return {
    execution_id: row.execution_id,
    catalog_id: row.catalog_id,
    path: row.path,
    version: row.version,
    status: row.status,
    ...timesOf(row, nowMs),
    progress: percentOf(row),
    result: row.result,
    error: row.error,
    parent_execution_id: number(row.parent_execution_id),
    started_at: wireTime(row.start_time),
    completed_at: wireTime(row.end_time),
    event_count: number(row.event_count),
    last_event_id: number(row.last_event_id),
    last_event_type: row.last_event_type,
    current_step: row.last_node_name,
    labels: row.labels ?? {},
  }
}

export interface Page {
  page: number
  pageSize: number
}

export function detailOf(detail: ShownExecution, { page, pageSize }: Page, nowMs: number): JsonObject {
  const { row, events, totalEvents } = detail
  const totalPages = pageSize === 0 ? 0 : Math.ceil(totalEvents / pageSize)
  return {
    ...summaryOf({ ...row, result: detail.result, progress: detail.progress }, nowMs),
    workload: detail.workload,
    events: events.map((event) => ({
      execution_id: number(row.execution_id),
      event_id: number(event.event_id),
      event_type: event.event_type,
      node_id: event.node_id,
      node_name: event.node_name,
      status: event.status,
      created_at: wireTime(event.created_at),
      timestamp: wireTime(event.created_at),
      context: event.context,
      result: event.result,
      error: event.error,
      catalog_id: number(event.catalog_id),
      parent_execution_id: number(event.parent_execution_id),
      parent_event_id: number(event.parent_event_id),
      duration: event.duration === null ? null : floatValue(event.duration),
    })),
    pagination: {
      page,
      page_size: pageSize,
      total_events: totalEvents,
      total_pages: totalPages,
      has_next: page < totalPages,
      has_prev: page > 1,
    },
  }
}

export function statusOf(row: ExecutionRow, progress: StepCounts, nowMs: number): JsonObject {
  return {
    execution_id: number(row.execution_id),
    status: row.status,
    current_step: row.last_node_name,
    completed: row.status === 'COMPLETED',
    failed: row.status === 'FAILED',
    is_cancelled: row.status === 'CANCELLED',
    completed_steps: progress.completedSteps,
    progress: {
      total_steps: progress.total,
      completed_steps: progress.completed,
      running_steps: progress.running,
      failed_steps: progress.failed,
    },
    ...timesOf(row, nowMs),
    variables: progress.variables,
    // An end is an event of the log, never a guess.
    completion_inferred: false,
    error: row.error,
  }
}

export function cancellationOf(row: ExecutionRow): JsonObject {
  const cancelled = row.status === 'CANCELLED'
  return {
    execution_id: number(row.execution_id),
    is_cancelled: cancelled,
    cancelled,
    completed: row.status === 'COMPLETED',
    failed: row.status === 'FAILED',
    status: row.status,
  }
}

function timesOf(row: ExecutionRow, nowMs: number): JsonObject {
  const start = wireTime(row.start_time)
  const end = wireTime(row.end_time)
  const seconds = start === null ? null : lastedSeconds(millis(start), end === null ? nowMs : millis(end))
  return {
    start_time: start,
    end_time: end,
    duration_seconds: seconds === null ? null : floatValue(seconds),
    duration_human: seconds === null ? null : lastedText(seconds),
  }
}

function percentOf({ status, progress }: Pick<ListedView, 'status' | 'progress'>): number {
  if (isTerminalStatus(status)) return 100
  return progress === undefined || progress.total === 0 ? 0 : Math.floor((100 * progress.completed) / progress.total)
}

function millis(at: WireTime): number {
  return Number(wireTimeToMicros(at) / 1000n)
}

export function number(given: string | null): JsonValue {
  return given === null ? null : integerValue(BigInt(given))
}

function wireTime(given: string | null): WireTime | null {
  return given === null ? null : wireTimeFromPostgres(given, 'time')
}
