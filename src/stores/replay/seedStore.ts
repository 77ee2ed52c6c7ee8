// Replay seeds in noetl.projection_snapshot. The state itself is in compressed bytes, exactly as it was written;
// the jsonb column only holds a readable summary. Snapshots of others have their state in jsonb.
import type { Connection } from '../../db/connection.js'
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { SEED_AGGREGATE_TYPE } from '../../domain/replay/replaySeed.js'

const q = queries('snapshot_load', 'snapshot_save', 'snapshot_due')

export const SEED_CODEC = 'json+gzip'

export interface SeedRow {
  aggregate_id: string
  aggregate_type: string
  version: string
  snapshot: JsonValue
  checksum: string
  meta: JsonValue
  snapshot_bytes: Uint8Array | null
  snapshot_codec: string | null
}

export async function loadSeed(
  connection: Connection,
  key: {
    tenantId: string
    organizationId: string
    aggregateType: string
    aggregateId: string
    versionMax: string | null
  },
  deadlineMs: number,
): Promise<SeedRow | undefined> {
  const values = [key.tenantId, key.organizationId, key.aggregateType, key.aggregateId, key.versionMax]
  return (await connection.run<SeedRow>(q.snapshot_load, values, deadlineMs))[0]
}

export interface NewSeed {
  executionId: string
  tenantId: string
  organizationId: string
  aggregateId: string
  version: string
  summary: JsonObject
  checksum: string
  meta: JsonObject
  bytes: Uint8Array
}

/** False: a newer one is there. */
export async function saveSeed(db: Queryable, seed: NewSeed): Promise<boolean> {
  const rows = await db.run(q.snapshot_save, [
    seed.executionId,
    seed.tenantId,
    seed.organizationId,
    SEED_AGGREGATE_TYPE,
    seed.aggregateId,
    seed.version,
    writeJson(seed.summary),
    seed.checksum,
    writeJson(seed.meta),
    seed.bytes,
    SEED_CODEC,
  ])
  return rows.length > 0
}

export interface DueLog {
  executionId: string
  tenantId: string
  organizationId: string
  eventCount: bigint
  /** Events in its seed; 0 without one. */
  seeded: bigint
}

export interface DuePage {
  long: DueLog[]
  /** Undefined after the last execution. */
  lastId: string | undefined
}

interface DueRow {
  execution_id: string | null
  tenant_id: string
  organization_id: string
  event_count: string
  seeded: string
  last_id: string | null
  page_size: number
}

/** Looks through a page of executions for those that are long. */
export async function listLong(db: Queryable, after: string, pageSize: number, eventsMin: number): Promise<DuePage> {
  const rows = await db.run<DueRow>(q.snapshot_due, [after, pageSize, eventsMin])
  // Every row carries the size and end of the page; the last one nothing else.
  const page = rows[0]
  return {
    long: rows
      .filter((row) => row.execution_id !== null)
      .map((row) => ({
        executionId: row.execution_id!,
        tenantId: row.tenant_id,
        organizationId: row.organization_id,
        eventCount: BigInt(row.event_count),
        seeded: BigInt(row.seeded.split('.')[0]!),
      })),
    lastId: page === undefined || page.page_size < pageSize ? undefined : (page.last_id ?? undefined),
  }
}
