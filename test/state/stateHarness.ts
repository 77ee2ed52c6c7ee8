// A state service over a test database as the daemon builds it, with threads of the built program; and the two
// things to compare with: the full fold of the log, and rows as other writers leave them.
import { fileURLToPath } from 'node:url'
import { ENGINE_DEFAULTS, type EngineSettings } from '../../src/domain/engine/settings.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { applyNumbered, emptyLiveState, type LiveState } from '../../src/domain/state/liveState.js'
import type { SnapshotProblem } from '../../src/domain/state/sealedState.js'
import { sealState } from '../../src/domain/state/sealedState.js'
import type { HandOver } from '../../src/services/commands/handOver.js'
import { createAdopter } from '../../src/services/events/adoption.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { createMembership } from '../../src/services/leases/membership.js'
import { toWorkerDatabase } from '../../src/services/replay/inThread/database.js'
import { packResult, unpackResult } from '../../src/services/results/inThread/resultBytes.js'
import { type ResultsDeps, readResultText, storeResult } from '../../src/services/results/results.js'
import type { DecisionOutcome } from '../../src/services/state/decisions.js'
import type { RejectedSnapshot } from '../../src/services/state/inThread/tally.js'
import { createStateService, type StateService } from '../../src/services/state/stateService.js'
import { valuesOf } from '../../src/services/state/storedValues.js'
import { readTail } from '../../src/stores/state/stateStore.js'
import { createResidentThreads, type ResidentSetup, type ResidentThreads } from '../../src/workers/resident.js'
import { TEST_SECRET_KEY, type TestCore } from '../support/core.js'
import type { TestDatabase } from '../support/database.js'

export const ENTRY = fileURLToPath(new URL('../../dist/workers/residentEntry.js', import.meta.url))

export interface StateOptions
  extends Partial<Pick<ResidentSetup, 'snapshotEvents' | 'snapshotAtEnd' | 'orchestrator' | 'page' | 'secretKeys'>> {
  threads?: number
  entriesMax?: number
  bytesMax?: number
  leaseMs?: number
  memberId?: string
  /** False: nothing is driven. */
  drive?: boolean
  onChildren?: () => void
  onIssued?: (shard: number, pools: readonly string[]) => void
  handOver?: HandOver
  patienceMs?: number
  /** Run playbooks, with these settings. */
  engine?: Partial<EngineSettings>
}

export interface StateCounts {
  advances: number
  applied: number
  coalesced: number
  evicted: Record<string, number>
  snapshots: number
  snapshotErrors: number
  rebuilds: { snapshot: number; log: number }
  rejected: Partial<Record<SnapshotProblem, number>>
  rejectedSnapshots: RejectedSnapshot[]
  decisions: Partial<Record<DecisionOutcome, number>>
  threadLosses: number
  errors: string[]
}

export interface TestState {
  service: StateService
  threads: ResidentThreads
  counts: StateCounts
  /** The sealed text: contents, count and digest together. */
  sealed(executionId: string): Promise<string>
  close(): Promise<void>
}

let serial = 0

/** As the daemon has them, without its threads. */
function resultsOf(core: TestCore): ResultsDeps {
  const secretNames: readonly string[] = []
  const canSeal = core.keyring.sealingKeyId !== undefined
  return {
    ...core,
    quotaBytes: 256 * 1_048_576,
    bytesMax: 64 * 1_048_576,
    packResult: async (body) => packResult({ body, secretNames, canSeal }),
    unpackResult: async (data, { isPacked, isShown }) =>
      unpackResult({ data, isPacked, secretNames: isShown ? secretNames : null }),
  }
}

export async function openState(core: TestCore, options: StateOptions = {}): Promise<TestState> {
  const counts: StateCounts = {
    advances: 0,
    applied: 0,
    coalesced: 0,
    evicted: {},
    snapshots: 0,
    snapshotErrors: 0,
    rebuilds: { snapshot: 0, log: 0 },
    rejected: {},
    rejectedSnapshots: [],
    decisions: {},
    threadLosses: 0,
    errors: [],
  }
  const { databases, clock } = core
  const memberId = options.memberId ?? `test-${++serial}`
  const threads = createResidentThreads({
    threads: options.threads ?? 2,
    memoryMb: 512,
    parallelMax: 8,
    stallMs: 60_000,
    entry: ENTRY,
    onLost: (thread) => {
      counts.threadLosses += 1
      service.threadLost(thread)
    },
    setup: {
      databases: databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
      connectionsMax: 3,
      secretNames: [],
      secretKeys: options.secretKeys ?? [TEST_SECRET_KEY],
      page: options.page ?? 500,
      snapshotEvents: options.snapshotEvents ?? 500,
      snapshotAtEnd: options.snapshotAtEnd ?? 'remove',
      queryTimeoutMs: 15_000,
      ...(options.orchestrator === undefined ? {} : { orchestrator: options.orchestrator }),
      ...(options.engine === undefined ? {} : { engine: { ...ENGINE_DEFAULTS, ...options.engine } }),
    },
  })
  const count = <K extends string>(record: Partial<Record<K, number>>, key: K, by = 1): void => {
    record[key] = (record[key] ?? 0) + by
  }
  const service: StateService = createStateService(
    {
      databases,
      clock,
      random: Math.random,
      threads,
      driving:
        options.drive === false
          ? undefined
          : {
              appender: core.appender,
              ids: core.ids,
              membershipOf: (db) => createMembership({ db, clock, id: memberId, kind: 'daemon' }),
              leaseMs: options.leaseMs ?? 6_000,
              store: (id, body) => storeResult(resultsOf(core), id, body),
              handOver: options.handOver,
              patienceMs: options.patienceMs,
            },
      fetch: valuesOf(databases, (ref) => readResultText(core, ref)),
      hooks: {
        onAdvanced: (applied) => {
          counts.advances += 1
          counts.applied += applied
        },
        onFailed: (error) => counts.errors.push(error.message),
        onCoalesced: () => {
          counts.coalesced += 1
        },
        onEvicted: (reason) => count(counts.evicted, reason),
        onTally: (tally) => {
          counts.snapshots += tally.snapshots
          counts.snapshotErrors += tally.snapshotErrors
          counts.rebuilds.snapshot += tally.rebuilds.snapshot
          counts.rebuilds.log += tally.rebuilds.log
          for (const rejected of tally.rejected) {
            count(counts.rejected, rejected.reason)
            counts.rejectedSnapshots.push(rejected)
          }
        },
        onDecision: (outcome) => count(counts.decisions, outcome),
        onChildren: () => options.onChildren?.(),
        onIssued: (shard, pools) => options.onIssued?.(shard, pools),
        onTakenOver: () => undefined,
        onError: (error) => counts.errors.push(error.message),
      },
    },
    {
      entriesMax: options.entriesMax ?? 10_000,
      bytesMax: options.bytesMax ?? 256_000_000,
      parallelMax: 8,
    },
  )
  const adopter = createAdopter({
    databases,
    clock,
    random: Math.random,
    intervalMs: 50,
    onAdopted: (_shard, executionId) => service.trigger(executionId),
    onError: (error) => counts.errors.push(error.message),
  })
  core.appender.onAppended((_shard, ids, _traces, _ended, news) => {
    for (const id of ids) service.trigger(id, undefined, news.get(id))
  })
  await service.start()
  await adopter.start()
  let closed = false
  return {
    service,
    threads,
    counts,
    sealed: async (executionId) => {
      const { sealed } = await service.ask(executionId, { sealed: true })
      return Buffer.from(sealed!).toString('latin1')
    },
    close: async () => {
      if (closed) return
      closed = true
      await adopter.stop(2_000)
      await service.stop(5_000)
    },
  }
}

/** What the state must be: every numbered event of the log, in order, without any cache. */
export async function fullFold(database: TestDatabase, executionId: string): Promise<LiveState> {
  const live = emptyLiveState(executionId as ExecutionId)
  for (;;) {
    const tail = await readTail(database.db, executionId, live.version, 1_000)
    if (tail === undefined || tail.events.length === 0) return live
    for (const row of tail.events) applyNumbered(live, row.event, row.version)
  }
}

export async function foldText(database: TestDatabase, executionId: string): Promise<string> {
  return sealState(await fullFold(database, executionId))
}

export async function start(core: TestCore, catalogId: string): Promise<string> {
  return (await startExecution(core, { catalogId })).executionId
}

/** One event through the front door. */
export async function append(
  core: TestCore,
  executionId: string,
  type: string,
  step: string,
  more = {},
): Promise<void> {
  await ingestEvent(core, { execution_id: executionId, event_type: type, node_name: step, ...more })
}

/** A row as another writer leaves it: without number, with any id and time. */
export async function insertForeign(
  database: TestDatabase,
  executionId: string,
  row: { eventId: string; type: string; step: string; meta?: object; at?: string; catalogId?: string },
): Promise<void> {
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, meta, created_at, event_time)
     values ($1::bigint, $2::bigint, $7::bigint, $3::text, $4::text, 'STARTED', $5::text::jsonb, $6::timestamptz at time zone 'utc', $6::timestamptz)`,
    [
      executionId,
      row.eventId,
      row.type,
      row.step,
      JSON.stringify(row.meta ?? {}),
      row.at ?? '2026-01-01T00:00:00Z',
      row.catalogId ?? '1',
    ],
  )
}

/** Running executions as a daemon that is gone has left them: start and `events` steps each. */
export async function plantRunning(database: TestDatabase, count: number, events: number): Promise<string[]> {
  const base = (BigInt(Date.now() - 1_704_067_200_000) << 22n).toString()
  const rows = await database.sql<{ execution_id: string }>(
    `insert into noetl.execution (execution_id, catalog_id, status, start_time, stream_version, event_count, path)
     select $1::bigint + n * 4096, 1, 'RUNNING', now(), $3::int + 1, $3::int + 1, 'test/planted' from generate_series(1, $2::int) as n
     returning execution_id`,
    [base, count, events],
  )
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, meta, stream_version)
     select $1::bigint + n * 4096, $1::bigint + n * 4096 + k, 1,
       case when k = 1 then 'playbook_started' when k % 2 = 0 then 'step.enter' else 'call.done' end,
       'planted' || (k / 2), jsonb_build_object('execution_pool', 'shared'), k
     from generate_series(1, $2::int) as n, generate_series(1, $3::int + 1) as k`,
    [base, count, events],
  )
  return rows.map((row) => row.execution_id)
}
