// Snapshots of live states in noetl.projection_snapshot: the sealed text as bytes, a readable summary beside it.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { STATE_SNAPSHOT_TYPE } from '../../domain/state/sealedState.js'

const q = queries(
  'state_snapshot_load',
  'state_snapshot_save',
  'state_snapshot_discard',
  'state_snapshot_delete',
  'state_snapshot_list',
  'state_snapshot_prune',
  'state_snapshot_prune_keys',
  'state_snapshot_prunable',
  'state_snapshot_prunable_keys',
)

export interface SnapshotKey {
  executionId: string
  tenantId: string
  organizationId: string
}

export interface StateSnapshotRow {
  version: string
  checksum: string
  meta: JsonValue
  snapshot_bytes: Uint8Array | null
  snapshot_codec: string | null
  /** Which writing of the row this is. */
  row_version: string
}

export interface LoadedExecution {
  key: SnapshotKey
  /** The last version of the log at that moment. */
  head: number
  status: string
  /** The version of the engine that drives it; undefined when nobody does. */
  engine: number | undefined
  snapshot: StateSnapshotRow | undefined
}

/** Undefined when the execution has no row. */
export async function loadStateSnapshot(db: Queryable, executionId: string): Promise<LoadedExecution | undefined> {
  const [row] = await db.run<LoadRow>(q.state_snapshot_load, [STATE_SNAPSHOT_TYPE, executionId])
  if (row === undefined) return undefined
  return {
    key: { executionId, tenantId: row.tenant_id, organizationId: row.organization_id },
    head: Number(row.head),
    status: row.status,
    engine: row.engine ?? undefined,
    snapshot: row.version === null ? undefined : (row as StateSnapshotRow),
  }
}

interface LoadRow extends Omit<StateSnapshotRow, 'version'> {
  version: string | null
  tenant_id: string
  organization_id: string
  head: string
  status: string
  engine: number | null
}

export interface NewStateSnapshot extends SnapshotKey {
  version: number
  summary: JsonObject
  checksum: string
  meta: JsonObject
  bytes: Uint8Array
  codec: string
}

/** False: a newer one is there. */
export async function saveStateSnapshot(
  db: Queryable,
  snapshot: NewStateSnapshot,
  deadlineMs?: number,
): Promise<boolean> {
  const rows = await db.run(
    q.state_snapshot_save,
    [
      ...columns(snapshot),
      snapshot.version,
      writeJson(snapshot.summary),
      snapshot.checksum,
      writeJson(snapshot.meta),
      snapshot.bytes,
      snapshot.codec,
    ],
    deadlineMs === undefined ? {} : { deadlineMs },
  )
  return rows.length > 0
}

/** Only if nobody has written it anew since it was read. */
export async function discardStateSnapshot(db: Queryable, key: SnapshotKey, rowVersion: string): Promise<void> {
  await db.run(q.state_snapshot_discard, [...columns(key), rowVersion])
}

export async function deleteStateSnapshot(db: Queryable, executionId: string): Promise<boolean> {
  return (await db.run(q.state_snapshot_delete, [STATE_SNAPSHOT_TYPE, executionId])).length > 0
}

export interface SnapshotListRow {
  aggregate_type: string
  aggregate_id: string
  tenant_id: string
  organization_id: string
  version: string
  checksum: string
  meta: JsonValue
  snapshot_codec: string | null
  stored_bytes: number | null
  created_at: string
  updated_at: string
  execution_status: string | null
  head: string | null
  /** The log is a subscription's: it has a lifecycle, and no status of an execution. */
  is_subscription: boolean
}

export interface SnapshotFilter {
  type: string | null
  executionId: string | null
  after: { type: string; id: string }
  limit: number
}

export function listSnapshots(db: Queryable, filter: SnapshotFilter): Promise<SnapshotListRow[]> {
  const { type, executionId, after, limit } = filter
  return db.run<SnapshotListRow>(q.state_snapshot_list, [type, executionId, after.type, after.id, limit])
}

/** Answers how many there were. */
export async function pruneSnapshots(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.state_snapshot_prune, [STATE_SNAPSHOT_TYPE, limit])).length
}

export async function pruneDecisionKeys(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.state_snapshot_prune_keys, [limit])).length
}

export interface PrunableRow {
  execution_id: string
  /** Null: it is gone. */
  execution_status: string | null
  updated_at: string
}

/** What a prune would remove, and the first of it. */
export async function prunableSnapshots(
  db: Queryable,
  { countedMax, limit }: { countedMax: number; limit: number },
): Promise<{ matched: number; rows: PrunableRow[] }> {
  const rows = await db.run<PrunableRow & { matched: number }>(q.state_snapshot_prunable, [
    STATE_SNAPSHOT_TYPE,
    countedMax,
    limit,
  ])
  return { matched: rows[0]?.matched ?? 0, rows: rows.map(({ matched, ...row }) => row) }
}

export async function prunableDecisionKeys(db: Queryable, countedMax: number): Promise<number> {
  const [row] = await db.run<{ count: number }>(q.state_snapshot_prunable_keys, [countedMax])
  return row?.count ?? 0
}

function columns(key: SnapshotKey): [string, string, string, string] {
  return [STATE_SNAPSHOT_TYPE, key.executionId, key.tenantId, key.organizationId]
}
