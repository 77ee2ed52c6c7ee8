// Worker pools: who announced itself, when it was last heard, and whether it is taken for gone. Foreign workers register
// once and send a sign of life every 15 s; some send only their name.
import type { Databases } from '../../db/databases.js'
import { type WireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { CpError } from '../../errors.js'
import {
  beatPool,
  leavePool,
  listPools,
  type NewWorkerPool,
  registerPool,
  type WorkerPoolRow,
} from '../../stores/workers/workerPoolStore.js'
import type { Ids } from '../ids/ids.js'

export interface WorkerPoolDeps {
  databases: Databases
  ids: Pick<Ids, 'next'>
}

export type WorkerPoolInput = Omit<NewWorkerPool, 'runtimeId'>

export interface WorkerPoolView extends Omit<WorkerPoolInput, 'uri' | 'capacity'> {
  runtimeId: string
  uri: string | null
  capacity: number | null
  heartbeat: WireTime
  createdAt: WireTime
  updatedAt: WireTime
  silentSeconds: number
  /** Neither deregistered nor silent for longer than a worker may be. */
  isAlive: boolean
}

/** Three signs of life that did not come. */
export const POOL_SILENT_SECONDS_MAX = 45

/** The column takes no other. */
const KINDS = ['worker_pool', 'server_api', 'broker']

export async function registerWorkerPool(deps: WorkerPoolDeps, input: WorkerPoolInput): Promise<WorkerPoolView> {
  assertKind(input.kind)
  return toView(await registerPool(deps.databases.cluster.db, { runtimeId: deps.ids.next(), ...input }))
}

export async function beatWorkerPool(deps: WorkerPoolDeps, name: string, kind: string): Promise<void> {
  assertKind(kind)
  await beatPool(deps.databases.cluster.db, deps.ids.next(), name, kind)
}

/** False: it was not known. */
export async function deregisterWorkerPool(databases: Databases, name: string, kind: string): Promise<boolean> {
  assertKind(kind)
  return leavePool(databases.cluster.db, name, kind)
}

export async function listWorkerPools(
  databases: Databases,
  filter: { kind?: string | undefined; status?: string | undefined } = {},
): Promise<WorkerPoolView[]> {
  return (await listPools(databases.cluster.db, filter.kind, filter.status)).map(toView)
}

function assertKind(kind: string): void {
  if (!KINDS.includes(kind)) throw new CpError('invalid_input', `kind must be one of ${KINDS.join(', ')}, not ${kind}`)
}

function toView(row: WorkerPoolRow): WorkerPoolView {
  const { name, kind, uri, status, labels, capabilities, capacity, runtime } = row
  return {
    runtimeId: row.runtime_id,
    name,
    kind,
    uri,
    status,
    labels,
    capabilities,
    capacity,
    runtime,
    heartbeat: wireTimeFromPostgres(row.heartbeat, 'heartbeat'),
    createdAt: wireTimeFromPostgres(row.created_at, 'created_at'),
    updatedAt: wireTimeFromPostgres(row.updated_at, 'updated_at'),
    silentSeconds: row.silent_seconds,
    isAlive: status !== 'offline' && row.silent_seconds <= POOL_SILENT_SECONDS_MAX,
  }
}
