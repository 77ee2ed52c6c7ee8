// The databases of an installation over test databases, one per shard.
import { type Databases, openDatabases } from '../../src/db/databases.js'
import { parseDatabaseTargets } from '../../src/domain/shards/databaseTarget.js'
import { parseTopology } from '../../src/domain/shards/topology.js'

export function openTestDatabases(...urls: string[]): Databases {
  const topology = parseTopology({
    ...(urls.length > 1 ? { shards: urls.join(',') } : {}),
    fallback: parseDatabaseTargets(urls[0]!, 'test').targets[0]!,
  })
  return openDatabases(topology, {
    tls: () => false,
    applicationName: 'noetl-cp test',
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 30_000,
    prepare: true,
    max: 4,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 30_000,
  })
}
