// The one description of how an installation is spread: which databases hold executions, which one holds
// the cluster tables, and which share of the executions this daemon drives. Built once at start; whatever
// is wrong stops the start with all problems named. The number of databases and the number of daemons are
// independent (two daemons on one database are fine), and none of it is ever guessed.

import { CpError } from '../../errors.js'
import { type DatabaseTarget, parseDatabaseTargets } from './databaseTarget.js'
import { hostnameOrdinal, SHARD_COUNT_MAX, shardOf } from './shards.js'

export interface Topology {
  /** Databases with per-execution tables, by shard number. Never empty. */
  readonly databases: readonly DatabaseTarget[]
  /** The database with the cluster-wide tables. */
  readonly cluster: DatabaseTarget
  /** Which executions this daemon owns: those whose shard among `shardCount` is `shardIndex`. */
  readonly shardIndex: number
  readonly shardCount: number
  /** No list was given, so one database serves everything. */
  readonly singleDatabase: boolean
  /** Set when cluster tables ride on shard 0 because nobody said otherwise; worth a warning. */
  readonly clusterByDefault: boolean
}

export interface TopologySettings {
  /** The settings as written; undefined or empty means not set. */
  shards?: string | undefined
  clusterDsn?: string | undefined
  shardIndex?: string | undefined
  shardCount?: string | undefined
  shardIndexFromHostname?: boolean | undefined
  hostname?: string | undefined
  /** The database of the single-database settings, used when no list is given. */
  fallback: DatabaseTarget
}

export function parseTopology(settings: TopologySettings): Topology {
  const problems: string[] = []
  const shards = parseDatabaseTargets(settings.shards ?? '', 'NOETL_SHARDS')
  const cluster = parseDatabaseTargets(settings.clusterDsn ?? '', 'NOETL_CLUSTER_DSN')
  problems.push(...shards.problems, ...cluster.problems)
  if (isSet(settings.shards) && shards.targets.length === 0 && shards.problems.length === 0) {
    problems.push('NOETL_SHARDS is set but names no database; unset it to use a single one')
  }
  if (cluster.targets.length > 1) problems.push('NOETL_CLUSTER_DSN must name exactly one database')
  if (isSet(settings.clusterDsn) && cluster.targets.length === 0 && cluster.problems.length === 0) {
    problems.push('NOETL_CLUSTER_DSN is set but names no database; unset it to use the first shard')
  }
  if (shards.targets.length > SHARD_COUNT_MAX)
    problems.push(`NOETL_SHARDS names more than ${SHARD_COUNT_MAX} databases`)

  const shardCount = readCount(settings.shardCount, problems)
  const shardIndex = readIndex(settings, problems)
  if (shardCount !== undefined && shardIndex !== undefined && shardIndex >= shardCount) {
    problems.push(
      `shard index ${shardIndex} must be below the shard count ${shardCount} (NOETL_SHARD_INDEX, NOETL_SHARD_COUNT)`,
    )
  }
  if (problems.length > 0 || shardCount === undefined || shardIndex === undefined) {
    throw new CpError('config', `the shard settings are wrong: ${problems.join('; ')}`, { details: { problems } })
  }

  const singleDatabase = shards.targets.length === 0
  const databases = Object.freeze(singleDatabase ? [settings.fallback] : shards.targets)
  return Object.freeze({
    databases,
    cluster: cluster.targets[0] ?? (databases[0] as DatabaseTarget),
    shardIndex,
    shardCount,
    singleDatabase,
    clusterByDefault: !singleDatabase && cluster.targets.length === 0,
  })
}

/** The position in `databases` where an execution's rows live. */
export function databaseIndexOf(topology: Topology, executionId: string): number {
  return shardOf(executionId, topology.databases.length)
}

/** Whether this daemon is the one that drives the execution. */
export function ownsExecution(topology: Topology, executionId: string): boolean {
  return shardOf(executionId, topology.shardCount) === topology.shardIndex
}

function readCount(text: string | undefined, problems: string[]): number | undefined {
  if (!isSet(text)) return 1
  const count = wholeNumber(text)
  if (count !== undefined && count >= 1 && count <= SHARD_COUNT_MAX) return count
  problems.push(`NOETL_SHARD_COUNT must be a whole number from 1 to ${SHARD_COUNT_MAX}`)
  return undefined
}

function readIndex(settings: TopologySettings, problems: string[]): number | undefined {
  if (isSet(settings.shardIndex)) {
    const index = wholeNumber(settings.shardIndex)
    if (index === undefined) problems.push('NOETL_SHARD_INDEX must be a whole number of at least 0')
    return index
  }
  if (settings.shardIndexFromHostname !== true) return 0
  // The NoETL server falls back to 0 here, so a pod with a random name would claim shard 0 beside its owner.
  const ordinal = hostnameOrdinal(settings.hostname ?? '')
  if (ordinal === undefined) {
    problems.push(
      'NOETL_SHARD_INDEX_FROM_HOSTNAME is on but the host name does not end in -<number>; set NOETL_SHARD_INDEX',
    )
  }
  return ordinal
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

function wholeNumber(text: string): number | undefined {
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : undefined
}
