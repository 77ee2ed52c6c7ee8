// A daemon's state service in a process of its own, with the deciding orchestrator of the tests: what is killed.
// Arguments: database URL, name, events between snapshots.

import { openDatabases } from '../../dist/db/databases.js'
import { createListener } from '../../dist/db/listen.js'
import { proposeMachineId } from '../../dist/domain/ids/machineId.js'
import { noEventSecrets } from '../../dist/domain/secrets/eventSecrets.js'
import { parseDatabaseTargets } from '../../dist/domain/shards/databaseTarget.js'
import { parseTopology } from '../../dist/domain/shards/topology.js'
import { systemClock } from '../../dist/runtime/clock.js'
import { createAdopter } from '../../dist/services/events/adoption.js'
import { createAppender } from '../../dist/services/events/appender.js'
import { createIds } from '../../dist/services/ids/ids.js'
import { createMembership } from '../../dist/services/leases/membership.js'
import { toWorkerDatabase } from '../../dist/services/replay/inThread/database.js'
import { createStateService } from '../../dist/services/state/stateService.js'
import { createResidentThreads } from '../../dist/workers/resident.js'

const [url, name, snapshotEvents = '3'] = process.argv.slice(2)
const clock = systemClock
const databases = openDatabases(parseTopology({ fallback: parseDatabaseTargets(url, 'test').targets[0] }), {
  tls: () => false,
  applicationName: name,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 15_000,
  prepare: true,
  max: 6,
  acquireTimeoutMs: 10_000,
  queryTimeoutMs: 15_000,
})
const ids = createIds(
  { proposed: proposeMachineId({ explicit: undefined, hostname: `${name}-${process.pid}` }), use: 'daemon' },
  { db: databases.cluster.db, clock, random: Math.random, owner: `${name}:${process.pid}`, onError: () => undefined },
)
await ids.start()
const appender = createAppender(databases, {
  mintAbove: ids.above,
  secrets: noEventSecrets,
  subjectOf: (event) => `noetl.events.default.default.${event.executionId}.0`,
})
const ignore = () => undefined
let service
const threads = createResidentThreads({
  threads: 1,
  memoryMb: 256,
  parallelMax: 8,
  stallMs: 60_000,
  onLost: (thread) => service.threadLost(thread),
  setup: {
    databases: databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
    connectionsMax: 3,
    secretNames: [],
    page: 500,
    snapshotEvents: Number(snapshotEvents),
    snapshotAtEnd: 'remove',
    queryTimeoutMs: 15_000,
    orchestrator: new URL('./orchestrators/chain.mjs', import.meta.url).pathname,
  },
})
const id = `${name}:${process.pid}`
const membershipOf = (db) => createMembership({ db, clock, id, kind: 'daemon' })
const outcomes = {}
service = createStateService(
  {
    databases,
    clock,
    random: Math.random,
    threads,
    driving: { appender, ids, membershipOf, leaseMs: 4_000 },
    hooks: {
      onAdvanced: ignore,
      onFailed: (error) => console.error(error.message),
      onCoalesced: ignore,
      onEvicted: ignore,
      onTally: ignore,
      onIssued: () => undefined,
      onDecision: (outcome) => {
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      },
      onTakenOver: ignore,
      onError: (error) => console.error(error.message),
    },
  },
  { entriesMax: 40, bytesMax: 10_000_000, parallelMax: 8 },
)
const wake = (ids, news) => {
  for (const id of ids) service.trigger(id, undefined, news?.get(id))
}
appender.onAppended((_shard, executionIds, _traces, _ended, news) => wake(executionIds, news))
const adopter = createAdopter({
  databases,
  clock,
  random: Math.random,
  intervalMs: 200,
  onAdopted: (_, id) => wake([id]),
  onError: ignore,
})
const listener = createListener({
  settings: databases.shards[0].settings,
  channel: 'noetl_state',
  clock,
  onHint: (payload) => (payload === undefined ? service.rescan(0) : wake(payload.split(','))),
  onError: ignore,
})
await service.start()
await adopter.start()
await listener.start()
console.log('ready')
process.on('SIGTERM', async () => {
  await listener.stop()
  await adopter.stop()
  await service.stop(5_000)
  await ids.stop(1_000)
  console.log(JSON.stringify(outcomes))
  process.exit(0)
})
