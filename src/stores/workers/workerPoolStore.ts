// Worker pools as they announce themselves, in the cluster database's `noetl.runtime`.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'

const q = queries('worker_pool_register', 'worker_pool_beat', 'worker_pool_leave', 'worker_pool_list')

export interface WorkerPoolRow {
  runtime_id: string
  name: string
  kind: string
  uri: string | null
  status: string
  labels: JsonValue
  capabilities: JsonValue
  capacity: number | null
  runtime: JsonValue
  heartbeat: string
  created_at: string
  updated_at: string
  silent_seconds: number
}

export interface NewWorkerPool {
  runtimeId: string
  name: string
  kind: string
  uri: string | undefined
  status: string
  labels: JsonValue
  capabilities: JsonValue
  capacity: number | undefined
  runtime: JsonValue
}

export async function registerPool(db: Queryable, pool: NewWorkerPool): Promise<WorkerPoolRow> {
  const [row] = await db.run<WorkerPoolRow>(q.worker_pool_register, [
    pool.runtimeId,
    pool.name,
    pool.kind,
    pool.uri ?? null,
    pool.status,
    writeJson(pool.labels),
    writeJson(pool.capabilities),
    pool.capacity ?? null,
    writeJson(pool.runtime),
  ])
  return row!
}

export async function beatPool(db: Queryable, runtimeId: string, name: string, kind: string): Promise<void> {
  await db.run(q.worker_pool_beat, [runtimeId, name, kind])
}

export async function leavePool(db: Queryable, name: string, kind: string): Promise<boolean> {
  return (await db.run(q.worker_pool_leave, [name, kind])).count > 0
}

export function listPools(
  db: Queryable,
  kind: string | undefined,
  status: string | undefined,
): Promise<WorkerPoolRow[]> {
  return db.run<WorkerPoolRow>(q.worker_pool_list, [kind ?? null, status ?? null])
}
