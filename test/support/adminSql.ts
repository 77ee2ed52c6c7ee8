// Plain SQL as the owner of the server, for set-up and a look from outside. Knows nothing of a test runner.
import { type ConnectionSettings, createConnection, type Rows } from '../../src/db/connection.js'
import type { Param } from '../../src/db/params.js'
import { parseDatabaseTargets } from '../../src/domain/shards/databaseTarget.js'

export function adminSettings(servers: { databaseUrl: string }, database?: string): ConnectionSettings {
  const target = parseDatabaseTargets(servers.databaseUrl, 'test').targets[0]!
  return {
    target: database === undefined ? target : { ...target, database },
    tls: false,
    applicationName: 'noetl-cp test',
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 60_000,
    prepare: true,
  }
}

/** One statement on a connection of its own. Test code only: the text is not a parameter. */
export async function sql<R = Record<string, unknown>>(
  servers: { databaseUrl: string },
  text: string,
  values: readonly Param[] = [],
): Promise<Rows<R>> {
  const connection = createConnection(adminSettings(servers))
  try {
    return await connection.run<R>({ name: 'test', text }, values, 60_000)
  } finally {
    await connection.close(1_000)
  }
}
