// All databases of the installation: the shard of each execution, and the cluster database. A shard that is away does
// not stop the others: reads over all shards name the ones that failed.
import { type DatabaseTarget, describeTarget } from '../domain/shards/databaseTarget.js'
import { databaseIndexOf, type Topology } from '../domain/shards/topology.js'
import { type CpError, toCpError } from '../errors.js'
import type { ConnectionSettings } from './connection.js'
import type { Db } from './db.js'
import { createPool, type PoolSettings } from './pool.js'

export interface NamedDatabase {
  /** `postgres` when there is one, else `shard0`, `shard1` … and `cluster`. */
  label: string
  db: Db
  /** For those who need a connection of their own: migrations, LISTEN, worker threads. */
  settings: ConnectionSettings
}

export interface ShardAnswer<T> {
  answers: { shard: number; value: T }[]
  failures: { shard: number; error: CpError }[]
}

export interface Databases {
  readonly topology: Topology
  readonly cluster: NamedDatabase
  readonly shards: readonly NamedDatabase[]
  /** Each database once, also when cluster and shard are the same. */
  readonly all: readonly NamedDatabase[]
  shardOf(executionId: string): number
  /** The database of an execution. */
  of(executionId: string): Db
  /** Asks every shard at once. */
  fanOut<T>(ask: (db: Db, shard: number) => Promise<T>): Promise<ShardAnswer<T>>
  close(deadlineMs: number): Promise<void>
}

export type PoolDefaults = Omit<PoolSettings, 'target' | 'tls'> & { tls(target: DatabaseTarget): PoolSettings['tls'] }

export function openDatabases(topology: Topology, defaults: PoolDefaults): Databases {
  const byName = new Map<string, NamedDatabase>()
  const open = (target: DatabaseTarget, label: string): NamedDatabase => {
    const name = describeTarget(target)
    const known = byName.get(name)
    if (known !== undefined) return known
    const settings = { ...defaults, target, tls: defaults.tls(target) }
    const opened = { label, db: createPool(settings), settings }
    byName.set(name, opened)
    return opened
  }
  const shards = topology.databases.map((target, index) =>
    open(target, topology.databases.length === 1 ? 'postgres' : `shard${index}`),
  )
  const cluster = open(topology.cluster, 'cluster')
  const all = [...byName.values()]
  const shardOf = (executionId: string): number => databaseIndexOf(topology, executionId)

  return {
    topology,
    cluster,
    shards,
    all,
    shardOf,
    of: (executionId) => shards[shardOf(executionId)]!.db,
    fanOut: async <T>(ask: (db: Db, shard: number) => Promise<T>) => {
      const settled = await Promise.allSettled(shards.map(({ db }, shard) => ask(db, shard)))
      const result: ShardAnswer<T> = { answers: [], failures: [] }
      for (const [shard, outcome] of settled.entries()) {
        if (outcome.status === 'fulfilled') result.answers.push({ shard, value: outcome.value })
        else result.failures.push({ shard, error: toCpError(outcome.reason) })
      }
      return result
    },
    close: async (deadlineMs) => {
      await Promise.all(all.map(({ db }) => db.close(deadlineMs)))
    },
  }
}
