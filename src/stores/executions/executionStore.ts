// The read model of executions, and the row lock that orders everything appended to one of them.
import type { Queryable, Tx } from '../../db/db.js'
import { runOneOrMany } from '../../db/oneOrMany.js'
import type { Scalar } from '../../db/params.js'
import { queries } from '../../db/queries.js'
import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { ExecutionSummary } from '../../domain/executions/executionEffect.js'
import type { Labels } from '../../domain/executions/labels.js'
import type { EventId } from '../../domain/ids/ids.js'
import { writeJson } from '../../domain/json/write.js'

const q = queries(
  'execution_lock',
  'execution_create',
  'execution_label',
  'execution_update',
  'execution_update_one',
  'execution_get',
  'execution_children',
  'execution_stale',
  'execution_counts',
  'execution_origin',
  'execution_nearest',
)

export interface LockedExecution {
  executionId: string
  catalogId: string
  path: string | undefined
  parentExecutionId: string | undefined
  tenantId: string
  organizationId: string
  streamVersion: bigint
  eventCount: bigint
  /** The version of the engine that drives it; undefined when nobody does. */
  engine: number | undefined
  /** Its labels are known. */
  isLabelled: boolean
  summary: ExecutionSummary
}

interface LockRow {
  execution_id: string
  catalog_id: string
  status: string
  stream_version: string
  event_count: string
  last_event_id: string | null
  last_event_type: string | null
  last_node_name: string | null
  last_node_event_id: string | null
  start_event_id: string | null
  terminal_event_id: string | null
  tenant_id: string
  organization_id: string
  error: string | null
  path: string | null
  parent_execution_id: string | null
  start_time: string | null
  end_time: string | null
  start_event_type: string | null
  engine: number | null
  is_labelled: boolean
}

/** Those that exist, locked until the transaction ends. */
export async function lockExecutions(tx: Tx, ids: readonly string[]): Promise<Map<string, LockedExecution>> {
  const rows = await tx.run<LockRow>(q.execution_lock, [ids])
  return new Map(rows.map((row) => [row.execution_id, toLocked(row)]))
}

function toLocked(row: LockRow): LockedExecution {
  const summary: ExecutionSummary = { status: row.status as ExecutionSummary['status'] }
  if (row.last_event_id !== null) summary.lastEventId = row.last_event_id as EventId
  if (row.last_event_type !== null) summary.lastEventType = row.last_event_type
  if (row.last_node_name !== null) summary.lastNodeName = row.last_node_name
  if (row.last_node_event_id !== null) summary.lastNodeEventId = row.last_node_event_id as EventId
  if (row.start_event_id !== null) summary.startEventId = row.start_event_id as EventId
  if (row.start_event_type !== null) summary.startEventType = row.start_event_type
  if (row.terminal_event_id !== null) summary.terminalEventId = row.terminal_event_id as EventId
  if (row.start_time !== null) summary.startTime = wireTimeFromPostgres(row.start_time, 'start_time')
  if (row.end_time !== null) summary.endTime = wireTimeFromPostgres(row.end_time, 'end_time')
  if (row.error !== null) summary.error = row.error
  return {
    executionId: row.execution_id,
    catalogId: row.catalog_id,
    path: row.path ?? undefined,
    parentExecutionId: row.parent_execution_id ?? undefined,
    tenantId: row.tenant_id,
    organizationId: row.organization_id,
    streamVersion: BigInt(row.stream_version),
    eventCount: BigInt(row.event_count),
    engine: row.engine ?? undefined,
    isLabelled: row.is_labelled,
    summary,
  }
}

export interface NewExecution {
  executionId: string
  catalogId: string
  path: string | null
  parentExecutionId: string | null
  tenantId: string
  organizationId: string
  engine: number | null
  labels?: Labels | undefined
}

export async function createExecutions(tx: Tx, list: readonly NewExecution[]): Promise<void> {
  await tx.run(q.execution_create, [
    list.map((row) => row.executionId),
    list.map((row) => row.catalogId),
    list.map((row) => row.path),
    list.map((row) => row.parentExecutionId),
    list.map((row) => row.tenantId),
    list.map((row) => row.organizationId),
    list.map((row) => row.engine),
    list.map((row) => (row.labels === undefined ? null : writeJson(row.labels))),
  ])
}

/** Of executions that were known before their start. */
export async function labelExecutions(tx: Tx, labels: ReadonlyMap<string, Labels>): Promise<void> {
  await tx.run(q.execution_label, [[...labels.keys()], [...labels.values()].map((one) => writeJson(one))])
}

/** At least one. */
export async function updateExecutions(tx: Tx, list: readonly LockedExecution[]): Promise<void> {
  await runOneOrMany(tx, { one: q.execution_update_one, many: q.execution_update }, list.map(readModelOf))
}

function readModelOf({ summary, ...row }: LockedExecution): Scalar[] {
  const values = [
    row.executionId,
    row.streamVersion,
    row.eventCount,
    summary.status,
    summary.lastEventId,
    summary.lastEventType,
    summary.lastNodeName,
    summary.lastNodeEventId,
    summary.startEventId,
    summary.terminalEventId,
    summary.startTime,
    summary.endTime,
    summary.error,
    row.catalogId,
    row.path,
    row.parentExecutionId,
    row.tenantId,
    row.organizationId,
    summary.startEventType,
  ]
  return values.map((value) => value ?? null)
}

export interface ExecutionRow {
  execution_id: string
  catalog_id: string
  path: string | null
  parent_execution_id: string | null
  status: string
  last_event_type: string | null
  last_node_name: string | null
  last_event_id: string | null
  start_time: string | null
  end_time: string | null
  error: string | null
  tenant_id: string
  organization_id: string
  stream_version: string
  event_count: string
  start_event_id: string | null
  terminal_event_id: string | null
  start_event_type: string | null
  updated_at: string
  /** The version of the engine that drives it; null when nobody does. */
  engine: number | null
  labels: Labels | null
}

export async function getExecution(db: Queryable, id: string): Promise<ExecutionRow | undefined> {
  const [row] = await db.run<ExecutionRow>(q.execution_get, [id])
  return row
}

export interface OriginRow {
  catalog_id: string
  path: string | null
  parent_execution_id: string | null
  created_at: string
}

export async function originOf(db: Queryable, id: string): Promise<OriginRow | undefined> {
  const [row] = await db.run<OriginRow>(q.execution_origin, [id])
  return row
}

export interface NearRow {
  execution_id: string
  path: string | null
  status: string
  created_at: string
}

/** Those with ids next to it, so many on either side. */
export function nearestExecutions(db: Queryable, id: string, limit: number): Promise<NearRow[]> {
  return db.run<NearRow>(q.execution_nearest, [id, limit])
}

/** In id order, those that have ended included. */
export function listChildren(
  db: Queryable,
  parents: readonly string[],
  after: string,
  limit: number,
): Promise<{ execution_id: string; status: string }[]> {
  return db.run(q.execution_children, [parents, after, limit])
}

/** Not ended although they began before that; oldest first. */
export async function listStale(db: Queryable, startedBefore: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ execution_id: string }>(q.execution_stale, [startedBefore, limit])
  return rows.map((row) => row.execution_id)
}

/** Above this a count is an estimate, so that a screen that asks every two seconds costs nothing on a large installation. */
const COUNTED_MAX = 10_000

export interface StatusCount {
  status: string
  count: number
  isEstimate: boolean
}

/** Exact for a few, the server's estimate for many. */
export async function countExecutions(db: Queryable, countedMax = COUNTED_MAX): Promise<StatusCount[]> {
  const rows = await db.run<{ status: string; counted: string; about: string }>(q.execution_counts, [countedMax])
  return rows.map(({ status, counted, about }) => {
    const isEstimate = Number(counted) >= countedMax
    return { status, count: Number(isEstimate ? about : counted), isEstimate }
  })
}
