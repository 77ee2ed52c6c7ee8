// What live states read of the log: the tail of one execution, where many stand, which have not ended; and the
// keys of decisions that were made.
import type { Queryable, Tx } from '../db/db.js'
import { queries } from '../db/queries.js'
import type { CatalogId, EventId, ExecutionId } from '../domain/ids.js'
import { parseJson } from '../domain/json/parse.js'
import type { JsonValue } from '../domain/json/value.js'
import type { WireTime } from '../domain/wireTime.js'
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
  /** JSON text: most events are folded without a look into these. */
  context: string | null
  result: string | null
  meta: string | null
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
  return { version: Number(row.stream_version), event: new StoredEvent(executionId as ExecutionId, row) }
}

/** Reads its documents when the fold asks for them. */
class StoredEvent implements WorkflowEvent {
  readonly eventId: EventId
  readonly eventType: string
  readonly nodeName: string | undefined
  readonly catalogId: CatalogId
  readonly parentExecutionId: ExecutionId | undefined
  readonly workerId: string | undefined
  readonly error: string | undefined
  readonly createdAt: WireTime
  private contextRead: JsonValue | undefined
  private resultRead: JsonValue | undefined
  private metaRead: JsonValue | undefined

  constructor(
    readonly executionId: ExecutionId,
    private readonly row: TailRow,
  ) {
    this.eventId = row.event_id as EventId
    this.eventType = row.event_type ?? ''
    this.nodeName = row.node_name ?? undefined
    this.catalogId = row.catalog_id as CatalogId
    this.parentExecutionId = (row.parent_execution_id as ExecutionId | null) ?? undefined
    this.workerId = row.worker_id ?? undefined
    this.error = row.error ?? undefined
    this.createdAt = timeOf(row.created_at)
  }

  get context(): JsonValue | undefined {
    this.contextRead ??= documentOf(this.row.context)
    return this.contextRead
  }
  get result(): JsonValue | undefined {
    this.resultRead ??= documentOf(this.row.result)
    return this.resultRead
  }
  get meta(): JsonValue | undefined {
    this.metaRead ??= documentOf(this.row.meta)
    return this.metaRead
  }
}

function documentOf(text: string | null): JsonValue | undefined {
  return text === null ? undefined : (parseJson(text) ?? undefined)
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
