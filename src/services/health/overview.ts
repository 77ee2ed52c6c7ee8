// The whole installation in a few numbers: executions, catalog, workers, connections, tables.
import type { Databases } from '../../db/databases.js'
import { countEntries } from '../../stores/catalog/catalogStore.js'
import { countExecutions } from '../../stores/executions/executionStore.js'
import { listTables } from '../../stores/health/doctorStore.js'
import { readClusterId } from '../../stores/ids/identityStore.js'
import { listWorkerPools } from '../workers/workerPools.js'

export interface OverviewDeps {
  databases: Databases
  connectionsPerDatabase: number
}

export interface Overview {
  /** By status, over all shards. */
  executions: Map<string, number>
  /** Statuses of so many executions that they were estimated and not counted. */
  estimated: string[]
  /** Paths of the catalog by kind. */
  entries: Map<string, number>
  workersAlive: number
}

export async function overviewOf(databases: Databases): Promise<Overview> {
  const [counted, entries, pools] = await Promise.all([
    databases.fanOut((db) => countExecutions(db)),
    countEntries(databases.cluster.db),
    listWorkerPools(databases, {}),
  ])
  if (counted.failures[0] !== undefined) throw counted.failures[0].error
  const executions = new Map<string, number>()
  const estimated = new Set<string>()
  for (const { status, count, isEstimate } of counted.answers.flatMap(({ value }) => value)) {
    executions.set(status, (executions.get(status) ?? 0) + count)
    if (isEstimate) estimated.add(status)
  }
  return {
    executions,
    estimated: [...estimated],
    entries: new Map(entries.map(({ kind, count }) => [kind, count])),
    workersAlive: pools.filter(({ isAlive }) => isAlive).length,
  }
}

/** What no daemon works without, whatever else the schema has. */
const NEEDED = ['catalog', 'command', 'event', 'execution', 'outbox', 'projection_snapshot', 'runtime', 'subscription']

export interface TableReport {
  /** In every database. */
  tables: string[]
  missing: string[]
}

export async function tablesOf(databases: Databases): Promise<TableReport> {
  const found = await Promise.all(databases.all.map(({ db }) => listTables(db)))
  const tables = found[0]!.filter((name) => found.every((names) => names.includes(name)))
  return { tables, missing: NEEDED.filter((name) => !tables.includes(name)) }
}

export interface PoolReport {
  max: number
  open: number
  inUse: number
  waiting: number
}

/** Connections to all databases together. */
export function poolOf({ databases, connectionsPerDatabase }: OverviewDeps): PoolReport {
  const report = { max: connectionsPerDatabase * databases.all.length, open: 0, inUse: 0, waiting: 0 }
  for (const { db } of databases.all) {
    const { open, inUse, waiting } = db.stats()
    report.open += open
    report.inUse += inUse
    report.waiting += waiting
  }
  return report
}

/** Names the installation, as the messages of its outbox do. */
export function clusterIdOf({ cluster }: Databases): Promise<string> {
  return readClusterId(cluster.db)
}
