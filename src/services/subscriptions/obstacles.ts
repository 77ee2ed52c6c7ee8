// Finds what would keep an active subscription from delivering before its first message comes: a missing playbook, stream
// or secret. A missing worker pool is named as well: executions would start, but no worker would run their steps.
import type { Bus } from '../../bus/connect.js'
import { missingStream } from '../../bus/sourceSetup.js'
import type { Databases } from '../../db/databases.js'
import type { SubscriptionSpec } from '../../domain/subscriptions/subscriptionSpec.js'
import { CpError, isTransient, toCpError } from '../../errors.js'
import { listPools } from '../../stores/state/stateStuckStore.js'
import type { SubscriptionRow } from '../../stores/subscriptions/subscriptionStore.js'
import type { CatalogDocuments } from '../catalog/catalogDocuments.js'
import { entryOf, natsSourceOf } from './entry.js'
import { findPlaybook } from './playbook.js'

export interface ObstacleDeps {
  databases: Databases
  documents: CatalogDocuments
  bus: Bus | undefined
  /** Known to the daemon that verifies; others cannot judge. */
  secretOf?: ((alias: string) => string) | undefined
}

export interface Obstacle {
  kind: 'entry' | 'playbook' | 'stream' | 'secret' | 'pool'
  text: string
}

/** Whether nothing can be started because of it. */
export function hinders({ kind }: Obstacle): boolean {
  return kind !== 'pool'
}

/** For those who have changed something and tell what they see: a server that is away is not a reason to fail. */
export async function visibleObstacles(deps: ObstacleDeps, row: SubscriptionRow): Promise<Obstacle[]> {
  if (row.state !== 'ACTIVE') return []
  try {
    return await obstaclesOf(deps, row)
  } catch (error) {
    if (isTransient(error)) return []
    throw error
  }
}

const POOL_SECONDS_MAX = 60

export async function obstaclesOf(
  deps: ObstacleDeps,
  row: Pick<SubscriptionRow, 'path' | 'catalog_id' | 'external'>,
): Promise<Obstacle[]> {
  if (row.external) return []
  const entry = await found('entry', () => entryOf(deps, row.catalog_id))
  if ('kind' in entry) return [entry]
  const { spec } = entry
  const looks = await Promise.all([
    found('playbook', async () => void (await findPlaybook(deps, spec.dispatch.playbook))),
    found('stream', () => assertStream(deps, row.path, spec)),
    found('secret', async () => assertSecret(deps, spec)),
    found('pool', () => assertPool(deps, spec)),
  ])
  return looks.filter((look) => look !== undefined)
}

/** What `look` answers, or what it complains about. Servers that are away are told elsewhere. */
async function found<T>(kind: Obstacle['kind'], look: () => Promise<T>): Promise<T | Obstacle> {
  try {
    return await look()
  } catch (error) {
    const { code, message } = toCpError(error)
    if (code === 'unavailable' || code === 'timeout' || code === 'overloaded' || code === 'internal') throw error
    return { kind, text: message }
  }
}

async function assertStream({ bus }: ObstacleDeps, path: string, spec: SubscriptionSpec): Promise<void> {
  if (spec.mode !== 'pull') return
  const source = natsSourceOf(path, spec)
  if (bus === undefined) throw new CpError('config', 'no NATS is configured; set NOETL_NATS_URL')
  if (!bus.isConnected()) return
  const problem = await missingStream(bus.connection(), source)
  if (problem !== undefined) throw new CpError('not_found', problem)
}

function assertSecret({ secretOf }: ObstacleDeps, { mode, ingress }: SubscriptionSpec): void {
  if (mode !== 'push' || secretOf === undefined || ingress === undefined) return
  if ('secret' in ingress.verify) secretOf(ingress.verify.secret)
}

async function assertPool({ databases }: ObstacleDeps, { dispatch }: SubscriptionSpec): Promise<void> {
  const { executionPool } = dispatch
  if (executionPool === undefined) return
  const pools = await listPools(databases.cluster.db)
  if (pools.some(({ name, age_seconds }) => name === executionPool && age_seconds < POOL_SECONDS_MAX)) return
  throw new CpError('not_found', `no worker pool named ${executionPool} is alive; executions will wait for one`)
}
