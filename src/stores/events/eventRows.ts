// Rows of noetl.event ↔ event records. Ids stay text, times become wire time, JSON stays lossless.
import type { OwnedEvent } from '../../domain/events/eventRecord.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { CatalogId, EventId, ExecutionId } from '../../domain/ids/ids.js'
import type { JsonValue } from '../../domain/json/value.js'

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
