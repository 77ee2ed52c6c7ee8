// Replay as the program does it: the service, the worker pool, one thread, started with the flags of the program.
import { setFlagsFromString } from 'node:v8'
import { openDatabases } from '../../dist/db/databases.js'
import { parseDatabaseTargets } from '../../dist/domain/shards/databaseTarget.js'
import { parseTopology } from '../../dist/domain/shards/topology.js'
import { replayExecution, wholeLog } from '../../dist/services/replay/replay.js'
import { createWorkerPool } from '../../dist/workers/pool.js'
import { PRODUCT_FLAGS } from './child.mjs'

// They hold for threads that are started from here on.
for (const flag of PRODUCT_FLAGS) setFlagsFromString(flag)

export function settingsOf(url) {
  return {
    target: parseDatabaseTargets(url, 'bench').targets[0],
    tls: false,
    applicationName: 'bench',
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 600_000,
    prepare: true,
  }
}

export function openReplay(url) {
  const settings = settingsOf(url)
  const databases = openDatabases(parseTopology({ fallback: settings.target }), {
    ...settings,
    tls: () => false,
    max: 2,
    acquireTimeoutMs: 5_000,
    queryTimeoutMs: 600_000,
  })
  const workers = createWorkerPool({ threads: 1, queueMax: 10, memoryMb: 1024, taskTimeoutMs: 600_000 })
  const deps = { databases, workers, timeoutMs: 600_000 }
  return {
    run: (executionId, options = {}) =>
      replayExecution(deps, {
        profile: 'cp',
        query: wholeLog({ tenantId: 'default', organizationId: 'default' }, executionId),
        fromSnapshot: false,
        remarks: 'whenNeeded',
        redact: false,
        ...options,
      }),
    close: async () => {
      await workers.close(1_000)
      await databases.close(1_000)
    },
  }
}
