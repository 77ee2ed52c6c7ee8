// The working parts of a daemon without its HTTP server, wired as the daemon wires them: settings, connections, ids and
// the way into the log, over one or more test databases. Several of these on the same databases are several daemons.
import { loadConfig } from '../../src/config/load.js'
import { buildCore } from '../../src/daemon/core.js'
import { openDeps } from '../../src/daemon/deps.js'
import { productionEndpoints } from '../../src/daemon/endpoints.js'
import type { Databases } from '../../src/db/databases.js'
import type { Keyring } from '../../src/domain/secrets/keyring.js'
import type { OwnSources } from '../../src/domain/subscriptions/ownSources.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import type { CatalogDocuments } from '../../src/services/catalog/catalogDocuments.js'
import type { Starter } from '../../src/services/events/starts.js'
import type { ExecutionsDeps } from '../../src/services/executions/executions.js'
import type { Ids } from '../../src/services/ids/ids.js'
import { createMembership, type Membership } from '../../src/services/leases/membership.js'
import type { TestDatabase } from './database.js'

export const TEST_SECRET_KEY = 'the secret key of every test installation'

export interface CoreOptions {
  clock?: Clock
  hostName?: string
  machineId?: string
  connectionsMax?: number
  /** Default the first shard. */
  cluster?: TestDatabase
  redact?: boolean
  secretKeys?: readonly string[]
}

/** Has what ingest, executions, catalog and projector ask for. */
export interface TestCore extends ExecutionsDeps {
  databases: Databases
  appender: Starter
  ids: Ids
  clock: Clock
  own: OwnSources
  documents: CatalogDocuments
  keyring: Keyring
  close(): Promise<void>
}

export async function openCore(shards: readonly TestDatabase[], options: CoreOptions = {}): Promise<TestCore> {
  const { config } = loadConfig({
    ...(shards.length === 1
      ? { NOETL_DATABASE_URL: shards[0]!.url }
      : { NOETL_SHARDS: shards.map((shard) => shard.url).join(',') }),
    NOETL_CLUSTER_DSN: options.cluster?.url,
    NOETL_SERVER_MACHINE_ID: options.machineId,
    HOSTNAME: options.hostName ?? 'test-host',
    NOETL_CP_REDACT: String(options.redact ?? true),
    // A busy machine must not decide.
    NOETL_CP_PG_QUERY_TIMEOUT: '30',
    // Nobody drives what a test starts, unless it says so.
    NOETL_CP_ENGINE: 'false',
  })
  const opened = openDeps({
    config,
    endpoints: {
      ...productionEndpoints(config),
      secretKeys: options.secretKeys ?? [TEST_SECRET_KEY],
    },
    log: silentLog,
    applicationName: 'noetl-cp test',
    connectionsMax: options.connectionsMax ?? 10,
  })
  const deps = { ...opened, clock: options.clock ?? systemClock }
  const { ids, appender, own } = buildCore(deps, 'daemon')
  await ids.start()
  return {
    databases: deps.databases,
    appender,
    ids,
    clock: deps.clock,
    own,
    large: deps.large,
    documents: deps.documents,
    keyring: deps.keyring,
    close: async () => {
      await ids.stop(2_000)
      await deps.close(2_000)
    },
  }
}

export function playbook(path: string, workload = '{}'): string {
  return `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata:\n  name: demo\n  path: ${path}\nworkload: ${workload}\nworkflow:\n  - step: start\n    tool: {kind: python, code: "x = 1"}\n`
}

/** Registers a small playbook and answers its catalog id. */
export async function registerPlaybook(core: TestCore, path: string): Promise<string> {
  return (await registerEntry(core, { content: playbook(path) })).catalogId
}

/** One of the processes that share the work of the cluster database. */
export function testMember({ databases, clock }: Pick<TestCore, 'databases' | 'clock'>, id: string): Membership {
  return createMembership({ db: databases.cluster.db, clock, id, kind: 'daemon' })
}
