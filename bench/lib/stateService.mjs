// The state service of a daemon without its HTTP server, for benchmarks in a process of their own.
import { openDatabases } from '../../dist/db/databases.js'
import { proposeMachineId } from '../../dist/domain/ids/machineId.js'
import { noEventSecrets } from '../../dist/domain/secrets/eventSecrets.js'
import { parseDatabaseTargets } from '../../dist/domain/shards/databaseTarget.js'
import { parseTopology } from '../../dist/domain/shards/topology.js'
import { systemClock } from '../../dist/runtime/clock.js'
import { createAppender } from '../../dist/services/events/appender.js'
import { createIds } from '../../dist/services/ids/ids.js'
import { createMembership } from '../../dist/services/leases/membership.js'
import { toWorkerDatabase } from '../../dist/services/replay/inThread/database.js'
import { createStateService } from '../../dist/services/state/stateService.js'
import { valuesOf } from '../../dist/services/state/storedValues.js'
import { createResidentThreads } from '../../dist/workers/resident.js'

export async function openStateService(url, { drive = false, threads: count = 1, snapshotEvents = 500, engine } = {}) {
  const clock = systemClock
  const databases = openDatabases(parseTopology({ fallback: parseDatabaseTargets(url, 'bench').targets[0] }), {
    tls: () => false,
    applicationName: 'bench',
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 60_000,
    prepare: true,
    max: 10,
    acquireTimeoutMs: 30_000,
    queryTimeoutMs: 60_000,
  })
  const ids = createIds(
    { proposed: proposeMachineId({ explicit: undefined, hostname: 'bench' }), use: 'daemon' },
    { db: databases.cluster.db, clock, random: Math.random, owner: `bench:${process.pid}`, onError: () => undefined },
  )
  if (drive) await ids.start()
  const appender = createAppender(databases, {
    mintAbove: ids.above,
    secrets: noEventSecrets,
    subjectOf: ({ executionId }) => `noetl.events.default.default.${executionId}.0`,
  })
  const counts = { advances: 0, applied: 0, coalesced: 0, snapshots: 0, errors: [] }
  let service
  const threads = createResidentThreads({
    threads: count,
    memoryMb: 2_048,
    parallelMax: 8,
    stallMs: 600_000,
    onLost: (thread) => service.threadLost(thread),
    setup: {
      databases: databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
      connectionsMax: 3,
      secretNames: [],
      page: 2_000,
      snapshotEvents,
      snapshotAtEnd: 'remove',
      queryTimeoutMs: 60_000,
      engine,
    },
  })
  const membershipOf = (db) => createMembership({ db, clock, id: `bench:${process.pid}`, kind: 'daemon' })
  const fail = (error) => counts.errors.push(error.message)
  service = createStateService(
    {
      databases,
      clock,
      random: Math.random,
      threads,
      driving: drive ? { appender, ids, membershipOf, leaseMs: 10_000 } : undefined,
      fetch: valuesOf(databases, async () => undefined),
      hooks: {
        onAdvanced: (applied) => {
          counts.advances += 1
          counts.applied += applied
        },
        onFailed: fail,
        onCoalesced: () => {
          counts.coalesced += 1
        },
        onEvicted: () => undefined,
        onTally: (tally) => {
          counts.snapshots += tally.snapshots
        },
        onDecision: () => undefined,
        onIssued: () => undefined,
        onChildren: () => undefined,
        onTakenOver: () => undefined,
        onError: fail,
      },
    },
    { entriesMax: 10_000, bytesMax: 1_000_000_000, parallelMax: 8 },
  )
  appender.onAppended((_shard, executionIds, _traces, _ended, news) => {
    for (const id of executionIds) service.trigger(id, undefined, news.get(id))
  })
  await service.start()
  return {
    service,
    threads,
    databases,
    ids,
    appender,
    counts,
    close: async () => {
      await service.stop(5_000)
      if (drive) await ids.stop(1_000)
      await databases.close(2_000)
    },
  }
}

/** An execution with so many events of the same few steps: a long history and a small state. */
export async function plantHistory(sql, executionId, events, payload = 20) {
  await sql`insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count)
    values (${executionId}, 1, 'RUNNING', now(), ${events}, ${events})`
  for (let from = 1; from <= events; from += 100_000) {
    await sql`insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, context, meta, stream_version)
      select ${executionId}::bigint, ${executionId}::bigint + n, 1,
        case when n = 1 then 'playbook_started' when n % 2 = 0 then 'ctx.updated' else 'step.enter' end,
        'step' || (n % 10), 'STARTED',
        jsonb_build_object('step', 'step' || (n % 10), 'gen', n, 'values', jsonb_build_object('k' || (n % 50), repeat('x', ${payload}::int))),
        '{}', n
      from generate_series(${from}::int, ${Math.min(events, from + 99_999)}::int) as n`
  }
}

export async function addEvent(sql, executionId, version) {
  await sql.begin((tx) => [
    tx`insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, context, meta, stream_version)
      values (${executionId}::bigint, ${executionId}::bigint + ${version}::int, 1, 'step.enter', 'step1', 'STARTED', '{}', '{}', ${version})`,
    tx`update noetl.execution set stream_version = ${version} where execution_id = ${executionId}`,
  ])
}
