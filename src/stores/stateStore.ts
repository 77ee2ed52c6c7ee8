// What live states read of the log: the tail of one execution, where many stand, which have not ended; and the
// keys of decisions that were made.
import type { Queryable, Tx } from '../db/db.js'
import { queries } from '../db/queries.js'
import type { CatalogId, EventId, ExecutionId } from '../domain/ids.js'
import type { JsonValue } from '../domain/json/value.js'
import type { WorkflowEvent } from '../domain/workflow/workflowEvent.js'
import { timeOf } from './eventRows.js'

const q = queries(
  'state_tail',
  'state_heads',
  'state_active',
  'state_digest_ids',
  'decision_claim',
  'decision_forget',
  'state_notify',
)

interface TailRow {
  head: string
  execution_status: string
  tenant_id: string
  organization_id: string
  unadopted: boolean
  event_id: string | null
  catalog_id: string
  parent_execution_id: string | null
  event_type: string | null
  node_name: string | null
  worker_id: string | null
  context: JsonValue
  result: JsonValue
  meta: JsonValue
  error: string | null
  stream_version: string
  created_at: string
}

export interface TailEvent {
  version: number
  event: WorkflowEvent
}

export interface Tail {
  /** The last version of the log at that moment. */
  head: number
  status: string
  tenantId: string
  organizationId: string
  /** Rows of others wait for their number. */
  unadopted: boolean
  /** In the order of versions. */
  events: TailEvent[]
}

/** One view of the log; undefined when the execution has no row. */
export async function readTail(
  db: Queryable,
  executionId: string,
  afterVersion: number,
  limit: number,
): Promise<Tail | undefined> {
  const rows = await db.run<TailRow>(q.state_tail, [executionId, afterVersion, limit])
  const first = rows[0]
  if (first === undefined) return undefined
  const events = first.event_id === null ? [] : rows.map((row) => toTailEvent(executionId, row))
  events.sort((a, b) => a.version - b.version)
  return {
    head: Number(first.head),
    status: first.execution_status,
    tenantId: first.tenant_id,
    organizationId: first.organization_id,
    unadopted: first.unadopted,
    events,
  }
}

function toTailEvent(executionId: string, row: TailRow): TailEvent {
  return {
    version: Number(row.stream_version),
    event: {
      executionId: executionId as ExecutionId,
      eventId: row.event_id as EventId,
      eventType: row.event_type ?? '',
      nodeName: row.node_name ?? undefined,
      catalogId: row.catalog_id as CatalogId,
      parentExecutionId: (row.parent_execution_id as ExecutionId | null) ?? undefined,
      workerId: row.worker_id ?? undefined,
      context: row.context ?? undefined,
      result: row.result ?? undefined,
      meta: row.meta ?? undefined,
      error: row.error ?? undefined,
      createdAt: timeOf(row.created_at),
    },
  }
}

export interface Head {
  executionId: string
  version: number
  status: string
}

export async function readHeads(db: Queryable, executionIds: readonly string[]): Promise<Head[]> {
  const rows = await db.run<{ execution_id: string; stream_version: string; status: string }>(q.state_heads, [
    executionIds,
  ])
  return rows.map((row) => ({
    executionId: row.execution_id,
    version: Number(row.stream_version),
    status: row.status,
  }))
}

/** In id order, after the one given. */
export async function listActive(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ executionId: string; version: number }[]> {
  const rows = await db.run<{ execution_id: string; stream_version: string }>(q.state_active, [after, limit])
  return rows.map((row) => ({ executionId: row.execution_id, version: Number(row.stream_version) }))
}

export async function readEventIds(
  db: Queryable,
  executionId: string,
  range: { after: number; upTo: number; limit: number },
): Promise<{ eventId: string; version: number }[]> {
  const rows = await db.run<{ event_id: string; stream_version: string }>(q.state_digest_ids, [
    executionId,
    range.after,
    range.upTo,
    range.limit,
  ])
  return rows.map((row) => ({ eventId: row.event_id, version: Number(row.stream_version) }))
}

/** Answers those that were not made before, as `execution:key`. */
export async function claimDecisions(
  tx: Tx,
  decisions: readonly { executionId: string; key: string; version: number }[],
): Promise<Set<string>> {
  const rows = await tx.run<{ execution_id: string; key: string }>(q.decision_claim, [
    decisions.map((row) => row.executionId),
    decisions.map((row) => row.key),
    decisions.map((row) => row.version),
  ])
  return new Set(rows.map((row) => `${row.execution_id}:${row.key}`))
}

export async function forgetDecisions(db: Queryable, executionId: string): Promise<void> {
  await db.run(q.decision_forget, [executionId])
}

/** At most about 8 kB per message. */
export async function notifyDrivers(db: Queryable, payload: string): Promise<void> {
  await db.run(q.state_notify, [payload])
}
