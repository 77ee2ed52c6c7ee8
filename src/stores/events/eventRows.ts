// Rows of noetl.event ↔ event records. Ids stay text, times become wire time, JSON stays lossless.
import type { OwnedEvent } from '../../domain/events/eventRecord.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { integerValue } from '../../domain/json/value.js'

/** The columns every reader of whole events selects. */
export interface EventRow {
  execution_id: string
  event_id: string
  catalog_id: string
  parent_event_id: string | null
  parent_execution_id: string | null
  prev_event_id?: string | null
  event_type: string | null
  node_id: string | null
  node_name: string | null
  node_type: string | null
  status: string | null
  worker_id: string | null
  duration?: number | null
  context: JsonValue
  result: JsonValue
  meta: JsonValue
  error: string | null
  stack_trace: string | null
  tenant_id: string
  organization_id: string
  stream_version?: string | null
  created_at: string
}

/** Columns that only exported and replayed events carry. */
export interface FullEventRow extends EventRow {
  stage_id: string | null
  frame_id: string | null
  command_id: string | null
  payload_ref: JsonValue
  aggregate_id: string | null
  aggregate_type: string | null
  schema_name: string | null
  schema_version: number | null
}

export function toEventRecord(row: EventRow): OwnedEvent {
  return {
    executionId: row.execution_id as ExecutionId,
    eventId: row.event_id as EventId,
    catalogId: row.catalog_id as CatalogId,
    parentEventId: (row.parent_event_id as EventId | null) ?? undefined,
    parentExecutionId: (row.parent_execution_id as ExecutionId | null) ?? undefined,
    prevEventId: (row.prev_event_id as EventId | null | undefined) ?? undefined,
    eventType: row.event_type ?? '',
    nodeId: row.node_id ?? undefined,
    nodeName: row.node_name ?? undefined,
    nodeType: row.node_type ?? undefined,
    status: row.status ?? undefined,
    workerId: row.worker_id ?? undefined,
    duration: row.duration ?? undefined,
    context: row.context ?? undefined,
    result: row.result ?? undefined,
    meta: row.meta ?? undefined,
    error: row.error ?? undefined,
    stackTrace: row.stack_trace ?? undefined,
    tenantId: row.tenant_id,
    organizationId: row.organization_id,
    createdAt: timeOf(row.created_at),
    createdAtGiven: true,
  }
}

export function timeOf(text: string): WireTime {
  return wireTimeFromPostgres(text, 'created_at')
}

/** An event as one JSON object with ids as bare integers: the form of exports and of `events tail`. */
export function toEventDocument(row: FullEventRow): JsonObject {
  const document: JsonObject = {}
  const put = (key: string, value: JsonValue | undefined): void => {
    if (value !== null && value !== undefined) document[key] = value
  }
  const id = (text: string | null | undefined): JsonValue | undefined =>
    text == null ? undefined : integerValue(BigInt(text))
  put('event_id', id(row.event_id))
  put('execution_id', id(row.execution_id))
  put('stream_version', id(row.stream_version))
  put('catalog_id', id(row.catalog_id))
  put('parent_event_id', id(row.parent_event_id))
  put('parent_execution_id', id(row.parent_execution_id))
  put('prev_event_id', id(row.prev_event_id))
  put('event_type', row.event_type)
  put('node_id', row.node_id)
  put('node_name', row.node_name)
  put('node_type', row.node_type)
  put('status', row.status)
  put('worker_id', row.worker_id)
  put('duration', row.duration)
  put('timestamp', timeOf(row.created_at))
  put('context', row.context)
  put('result', row.result)
  put('meta', row.meta)
  put('error', row.error)
  put('stack_trace', row.stack_trace)
  put('tenant_id', row.tenant_id)
  put('organization_id', row.organization_id)
  put('stage_id', id(row.stage_id))
  put('frame_id', id(row.frame_id))
  put('command_id', id(row.command_id))
  put('payload_ref', row.payload_ref)
  put('aggregate_id', row.aggregate_id)
  put('aggregate_type', row.aggregate_type)
  put('schema_name', row.schema_name)
  if (row.schema_version !== null && row.schema_version !== 1) put('schema_version', row.schema_version)
  return document
}
