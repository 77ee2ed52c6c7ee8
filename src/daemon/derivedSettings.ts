// What a daemon makes of settings that leave something open: numbers that follow the machine, values that follow other
// settings, addresses of the servers in the data folder. Secrets are handed over whole; whoever shows them masks them.
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DerivedSettings } from '../config/describe.js'
import type { KeyName } from '../config/keys.js'
import type { LoadedConfig } from '../config/load.js'
import { describeTarget } from '../domain/shards/databaseTarget.js'
import { poolThreadCount, stateThreadCount, stepProcessCount } from '../workers/threadCounts.js'
import { type EmbeddedAddresses, embeddedEndpoints, isProduction, productionEndpoints } from './endpoints.js'
import { topologyOf } from './topology.js'

export interface Surroundings {
  dataDir: string
  /** The servers of the data folder, while a daemon runs in it. */
  servers: (EmbeddedAddresses & { httpUrl?: string }) | undefined
}

export function derivedSettings(loaded: LoadedConfig, { dataDir, servers }: Surroundings): DerivedSettings {
  const { config } = loaded
  const derived: DerivedSettings = {}
  const derive = (name: KeyName, value: unknown, because: string): void => {
    // 0 is a wish for any number; whatever else was given is used as it is.
    const isOpen = config[name] === undefined || config[name] === 0
    if (isOpen && value !== undefined && value !== '') derived[name] = { value, because }
  }
  derive('dataDir', dataDir, 'user and home folder')
  derive('workerDataDir', join(dataDir, 'worker'), 'data folder')
  derive('hostName', hostname(), 'this machine')
  derive('stateThreads', stateThreadCount(config.stateThreads), 'number of cores')
  derive('workerThreads', poolThreadCount(config.workerThreads), 'number of cores')
  derive('workerProcesses', stepProcessCount(config.workerProcesses), 'number of cores')
  if (isProduction(loaded)) {
    const { database } = productionEndpoints(config)
    const { databases, cluster, shardIndex, shardCount } = topologyOf(config, database)
    derive('subjectShardCount', databases.length, 'number of databases')
    derive('clusterDsn', `postgres://${describeTarget(cluster)}`, 'first database')
    derive('shardIndex', shardIndex, config.shardIndexFromHostname ? 'host name' : 'default')
    derive('shardCount', shardCount, 'default')
    return derived
  }
  derive('subjectShardCount', 1, 'number of databases')
  derive('shardIndex', 0, 'default')
  derive('shardCount', 1, 'default')
  if (servers === undefined) return derived
  const { database, nats } = embeddedEndpoints(config, servers, [])
  const running = 'the running daemon'
  derive('databaseUrl', servers.databaseUrl, running)
  derive('clusterDsn', `postgres://${describeTarget(database)}`, 'first database')
  derive('embeddedPostgresPort', database.port, running)
  derive('natsUrl', nats?.url, running)
  derive('embeddedNatsPort', new URL(servers.natsUrl).port, running)
  derive('natsToken', servers.natsToken, running)
  derive('internalToken', servers.internalToken, running)
  if (servers.httpUrl === undefined) return derived
  derive('publicUrl', servers.httpUrl, running)
  const { port } = new URL(servers.httpUrl)
  // It may have been started with a flag that this call does not have.
  if (loaded.origins.httpPort.source === 'default' || config.httpPort === 0)
    if (port !== String(config.httpPort)) derived.httpPort = { value: port, because: running }
  return derived
}
