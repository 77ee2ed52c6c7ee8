// The databases of the installation, as its settings name them.
import { hostname } from 'node:os'
import type { Config } from '../config/keys.js'
import type { DatabaseTarget } from '../domain/shards/databaseTarget.js'
import { parseTopology, type Topology } from '../domain/shards/topology.js'

/** `fallback` is the one database where none is listed. */
export function topologyOf(config: Config, fallback: DatabaseTarget): Topology {
  const { shards, clusterDsn, shardIndex, shardCount, shardIndexFromHostname } = config
  return parseTopology({
    ...{ shards, clusterDsn, shardIndex, shardCount, shardIndexFromHostname, fallback },
    hostname: config.hostName ?? hostname(),
  })
}
