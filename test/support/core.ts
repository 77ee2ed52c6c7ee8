// The working parts of a daemon without its HTTP server: ids, appender and services over one or more test
// databases. Several of these on the same databases are several daemons.
import type { Databases } from '../../src/db/databases.js'
import { openDatabases } from '../../src/db/databases.js'
import { proposeMachineId } from '../../src/domain/ids/machineId.js'
import { createEventSecrets, noEventSecrets } from '../../src/domain/secrets/eventSecrets.js'
import { createKeyring, type Keyring } from '../../src/domain/secrets/keyring.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { parseTopology } from '../../src/domain/shards/topology.js'
import { type OwnSources, ownSources } from '../../src/domain/subscriptions/ownSources.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { type CatalogDocuments, createCatalogDocuments } from '../../src/services/catalog/catalogDocuments.js'
import { catalogDocument } from '../../src/services/catalog/inThread/catalogDocument.js'
import { createAppender } from '../../src/services/events/appender.js'
import type { AppendContext } from '../../src/services/events/appendInTx.js'
import type { ExecutionsDeps } from '../../src/services/executions/executions.js'
import { type Starter, withStarts } from '../../src/services/executions/starts.js'
import { createIds, type Ids } from '../../src/services/ids/ids.js'
import type { TestDatabase } from './database.js'

/** As the settings are by default. */
export const TEST_OWN = ownSources({
  stream: 'NOETL_EVENTS',
  subjectPrefix: 'noetl.events',
  template: '{prefix}.{tenant}.{organization}.{execution}.{shard}',
})

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
  /** Complaints of the id lease. */
  complaints: string[]
  close(): Promise<void>
}

export async function openCore(shards: readonly TestDatabase[], options: CoreOptions = {}): Promise<TestCore> {
  const clock = options.clock ?? systemClock
  const first = shards[0]!
  const databases = openDatabases(
    parseTopology({
      shards: shards.length === 1 ? undefined : shards.map((shard) => shard.url).join(','),
      fallback: first.settings.target,
      clusterDsn: options.cluster?.url,
    }),
    {
      ...first.settings,
      tls: () => false,
      max: options.connectionsMax ?? 10,
      acquireTimeoutMs: 10_000,
      queryTimeoutMs: 30_000,
    },
  )
  const complaints: string[] = []
  const ids = createIds(
    {
      proposed: proposeMachineId({ explicit: options.machineId, hostname: options.hostName ?? 'test-host' }),
      use: 'daemon',
    },
    {
      db: databases.cluster.db,
      clock,
      random: Math.random,
      hostName: options.hostName ?? 'test-host',
      onError: (_code, message) => complaints.push(message),
    },
  )
  await ids.start()
  const keyring = createKeyring(options.secretKeys ?? ['the secret key of every test installation'])
  const context: AppendContext = {
    mintAbove: ids.above,
    secrets: options.redact === false ? noEventSecrets : createEventSecrets(secretRules(), keyring),
    subjectOf: (event) => `noetl.events.${event.tenantId}.${event.organizationId}.${event.executionId}.0`,
  }
  const appender = withStarts(createAppender(databases, context), databases, context)
  return {
    databases,
    appender,
    ids,
    clock,
    own: TEST_OWN,
    documents: createCatalogDocuments({ databases, clock, parse: async (input) => catalogDocument(input) }),
    keyring,
    complaints,
    close: async () => {
      await ids.stop(2_000)
      await databases.close(2_000)
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
