// Opens what the daemon and the subcommands work with, and closes it again. The one place where settings
// become connections.
import { type Bus, createBus } from '../bus/connect.js'
import type { Config } from '../config/keys.js'
import { type Databases, openDatabases } from '../db/databases.js'
import { tlsOptions } from '../db/tls.js'
import { createKeyring, type Keyring } from '../domain/secrets/keyring.js'
import { type SecretRules, secretRules } from '../domain/secrets/secretNames.js'
import type { SslMode } from '../domain/shards/databaseTarget.js'
import { CpError } from '../errors.js'
import { type Clock, systemClock } from '../runtime/clock.js'
import { componentLog, type Log } from '../runtime/log.js'
import { createMetrics, type Metrics } from '../runtime/metrics.js'
import { type LargeBodies, largeBodiesInPlace, largeBodiesInThreads } from '../services/bodies/largeBodies.js'
import { type CatalogDocuments, createCatalogDocuments } from '../services/catalog/catalogDocuments.js'
import { catalogDocument } from '../services/catalog/inThread/catalogDocument.js'
import { documentPlaces } from '../services/catalog/inThread/documentPlaces.js'
import { createWorkerPool, type WorkerPool } from '../workers/pool.js'
import { TASK_NAMES } from '../workers/tasks.js'
import type { Endpoints } from './endpoints.js'
import { METRICS } from './metricTable.js'
import { topologyOf } from './topology.js'

export interface Deps {
  config: Config
  endpoints: Endpoints
  clock: Clock
  random: () => number
  log: Log
  metrics: Metrics
  databases: Databases
  /** What counts as a secret; null when NOETL_CP_REDACT is off. */
  secretRules: SecretRules | null
  keyring: Keyring
  /** Seals credentials; the installation's key unless they have their own. */
  credentialKeyring: Keyring
  bus: Bus | undefined
  workers: WorkerPool
  /** For texts of strangers: short tasks that must not wait behind a long replay. */
  parsers: WorkerPool
  documents: CatalogDocuments
  large: LargeBodies
  /** The secret behind an alias of a catalog entry. */
  secretOf(alias: string): string
  close(deadlineMs: number): Promise<void>
}

export interface OpenOptions {
  config: Config
  endpoints: Endpoints
  log: Log
  /** Shown in pg_stat_activity: `noetl-cp serve`, `noetl-cp outbox drain`. */
  applicationName: string
  /** Fewer connections for a one-shot command. */
  connectionsMax?: number
  /** Only the daemon verifies pushed messages. */
  secretOf?: (alias: string) => string
  /** A process that lives long: it has metrics of its own, and a main loop that must stay free. */
  isDaemon?: boolean
}

const PARSER_THREADS = 2

export function openDeps(options: OpenOptions): Deps {
  const { config, endpoints, log } = options
  const metrics = createMetrics(METRICS, { process: options.isDaemon ?? false })
  const topology = topologyOf(config, endpoints.database)
  const databases = openDatabases(topology, {
    tls: (target) => tlsOptions(target, { caPath: config.postgresTlsCa, sslMode: defaultSslMode(options) }),
    applicationName: options.applicationName,
    connectTimeoutMs: config.postgresConnectTimeoutMs,
    statementTimeoutMs: config.postgresQueryTimeoutMs,
    prepare: config.statementCacheCapacity > 0,
    max: options.connectionsMax ?? config.postgresMaxConnections,
    acquireTimeoutMs: config.postgresAcquireTimeoutMs,
    queryTimeoutMs: config.postgresQueryTimeoutMs,
    onQuery: (outcome, seconds) => {
      metrics.inc('noetl_cp_db_queries_total', { outcome })
      metrics.observe('noetl_cp_db_query_seconds', seconds)
    },
    onDiscard: () => metrics.inc('noetl_cp_db_connections_discarded_total'),
  })
  const bus =
    endpoints.nats === undefined
      ? undefined
      : createBus(
          { ...endpoints.nats, name: options.applicationName },
          {
            clock: systemClock,
            log: componentLog(log, 'nats'),
            onReconnect: () => metrics.inc('noetl_cp_nats_reconnects_total'),
          },
        )
  const pool = (threads: number, warmThreads: number) =>
    lazyWorkerPool(() =>
      createWorkerPool({
        threads,
        warmThreads,
        queueMax: config.workerQueueMax,
        memoryMb: config.workerMemoryMb,
        taskTimeoutMs: config.workerTaskTimeoutMs,
        onTask: (task, outcome, seconds) => {
          metrics.inc('noetl_cp_worker_tasks_total', { task, outcome })
          metrics.observe('noetl_cp_worker_task_seconds', seconds, { task })
        },
      }),
    )
  // Replays are rare and large, documents are read all the time.
  const workers = pool(config.workerThreads, 0)
  const parsers = pool(PARSER_THREADS, 1)
  const bodies = { secretNames: config.redact ? config.redactKeys : null, eventBytes: config.eventLimitMb * 1_048_576 }
  const documents = createCatalogDocuments({
    databases,
    clock: systemClock,
    parse: options.isDaemon
      ? (input, timeoutMs) => parsers.run('catalogDocument', input, { timeoutMs })
      : async (input) => catalogDocument(input),
    locate: options.isDaemon
      ? (input, timeoutMs) => parsers.run('documentPlaces', input, { timeoutMs })
      : async (input) => documentPlaces(input),
  })
  observePools(metrics, databases, [workers, parsers])

  return {
    config,
    endpoints,
    clock: systemClock,
    random: Math.random,
    log,
    metrics,
    databases,
    secretRules: config.redact ? secretRules(config.redactKeys) : null,
    keyring: createKeyring(endpoints.secretKeys),
    credentialKeyring: createKeyring([...(config.credentialKeys ?? []), ...endpoints.secretKeys]),
    bus,
    workers,
    parsers,
    documents,
    large: options.isDaemon ? largeBodiesInThreads(parsers, bodies) : largeBodiesInPlace(bodies),
    secretOf: options.secretOf ?? noSecrets,
    close: async (deadlineMs) => {
      await Promise.all([
        bus?.stop(deadlineMs),
        workers.close(deadlineMs),
        parsers.close(deadlineMs),
        databases.close(deadlineMs),
      ])
    },
  }
}

function noSecrets(): never {
  throw new CpError('config', 'secrets are only known to the daemon')
}

/** Threads cost memory and start-up time; a command that never folds should not pay for them. */
function lazyWorkerPool(create: () => WorkerPool): WorkerPool {
  let pool: WorkerPool | undefined
  const get = (): WorkerPool => {
    pool ??= create()
    return pool
  }
  return {
    run: (task, input, options) => get().run(task, input, options),
    stats: () => pool?.stats() ?? { threads: 0, queued: 0, completed: 0 },
    close: async (deadlineMs) => pool?.close(deadlineMs),
  }
}

function observePools(metrics: Metrics, databases: Databases, pools: readonly WorkerPool[]): void {
  for (const task of TASK_NAMES) {
    metrics.declare('noetl_cp_worker_tasks_total', { task })
    metrics.declare('noetl_cp_worker_task_seconds', { task })
  }
  metrics.onCollect(() => {
    for (const { label, db } of databases.all) {
      const stats = db.stats()
      metrics.set('noetl_cp_db_connections', stats.open, { database: label })
      metrics.set('noetl_cp_db_connections_in_use', stats.inUse, { database: label })
      metrics.set('noetl_cp_db_waiting', stats.waiting, { database: label })
    }
    const stats = pools.map((pool) => pool.stats())
    metrics.set('noetl_cp_worker_queue', sum(stats.map(({ queued }) => queued)))
    metrics.set('noetl_cp_worker_threads', sum(stats.map(({ threads }) => threads)))
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Our own Postgres listens on loopback and has no certificate, whatever is wanted of others. */
function defaultSslMode({ config, endpoints }: OpenOptions): SslMode {
  return endpoints.mode === 'embedded' ? 'disable' : config.postgresSslMode
}
