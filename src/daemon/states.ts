// Live states of the daemon: threads, service, what wakes it (our own appends and adoptions at once, those of other
// daemons by a hint) and what the metrics see.
import type { Config } from '../config/keys.js'
import { createListener } from '../db/listen.js'
import { ENGINE_DEFAULTS, ENGINE_VERSION, type EngineSettings } from '../domain/engine/settings.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import type { HandOver } from '../services/commands/handOver.js'
import type { LogNews } from '../services/events/logNews.js'
import { toWorkerDatabase } from '../services/replay/inThread/database.js'
import { readResultText, storeResult } from '../services/results/results.js'
import { createHints } from '../services/state/hints.js'
import { createStateService, type StateHooks, type StateService } from '../services/state/stateService.js'
import { valuesOf } from '../services/state/storedValues.js'
import { createResidentThreads, type ResidentThreads } from '../workers/resident.js'
import { stateThreadCount } from '../workers/threadCounts.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'
import { buildResults } from './results.js'

export interface States {
  state: StateService
  threads: ResidentThreads
  services: Service[]
  /** After a commit of this process, and after events of others were numbered. */
  wake(executionIds: Iterable<string>): void
}

// Per thread: enough to keep it busy while the database answers.
const PARALLEL_MAX = 8
const CONNECTIONS_PER_THREAD = 3
const PAGE = 2_000
// A state on the heap takes up to about this many times what it is counted for, snapshots being written included.
const HEAP_FACTOR = 4
const HEAP_MB_MIN = 512
const LISTEN_CHANNEL = 'noetl_state'

type Environment = Readonly<Record<string, string | undefined>>

/** Who is told what decisions have asked for, and who gets commands with the decision itself. */
type Told = Pick<StateHooks, 'onIssued' | 'onChildren'> & {
  handOver?: HandOver
  /** Others have written to these; undefined: hints may have been lost. */
  onHint?(executionIds: readonly string[] | undefined): void
}

/** Without a core nothing is driven: for commands that only look. */
export function buildStates(
  deps: Deps,
  core: Core | undefined,
  { handOver, onHint, ...told }: Told = { onIssued: () => undefined, onChildren: () => undefined },
  environment: Environment = {},
): States {
  const { config, databases, clock, random } = deps
  const log = componentLog(deps.log, 'state')
  const isDriving = core !== undefined && config.stateEnabled
  const results = core === undefined ? undefined : buildResults(deps, core)
  const threads = openThreads(deps, core, environment, (thread, reason) => {
    deps.metrics.inc('noetl_cp_state_thread_losses_total')
    log.warn({ thread, reason }, 'a thread with live states is gone; they are built again')
    state.threadLost(thread)
  })
  const state: StateService = createStateService(
    {
      databases,
      clock,
      random,
      threads,
      hooks: { ...stateHooks(deps), ...told },
      driving:
        isDriving && results !== undefined
          ? {
              appender: core.appender,
              ids: core.ids,
              membershipOf: core.membershipOf,
              leaseMs: config.stateLeaseMs,
              store: (id, body) => storeResult(results.api, id, body),
              handOver,
            }
          : undefined,
      fetch: valuesOf(databases, (ref) => readResultText(deps, ref)),
    },
    {
      entriesMax: config.stateEntriesMax,
      bytesMax: config.stateMemoryMb * 1_000_000,
      parallelMax: PARALLEL_MAX,
    },
  )
  if (!isDriving) return { state, threads, services: [state], wake: () => undefined }

  const hints = createHints({ databases, onError: loopErrors(deps, 'state hints') })
  const wakeOne = (id: string, cause?: string, news?: LogNews): void => {
    // Its driver is of another version: a daemon beside this one.
    const isOthers = news !== undefined && news.engine !== ENGINE_VERSION
    if (state.owns(id) && !isOthers) state.trigger(id, cause, news)
    else if (config.stateNotify) hints.add(databases.shardOf(id), id)
  }
  const wake = (executionIds: Iterable<string>): void => {
    for (const id of executionIds) wakeOne(id)
  }
  core.appender.onAppended((_shard, executionIds, traces, _ended, news) => {
    for (const id of executionIds) wakeOne(id, traces.get(id), news.get(id))
  })
  observe(deps, state)
  return { state, threads, services: [state, ...listeners(deps, state, onHint)], wake }
}

function openThreads(
  { config, databases, endpoints }: Deps,
  core: Core | undefined,
  environment: Environment,
  onLost: (thread: number, reason: string) => void,
): ResidentThreads {
  const count = stateThreadCount(core === undefined ? 1 : config.stateThreads)
  return createResidentThreads({
    threads: count,
    memoryMb: Math.max(HEAP_MB_MIN, Math.ceil((config.stateMemoryMb / count) * HEAP_FACTOR)),
    parallelMax: PARALLEL_MAX,
    stallMs: config.workerTaskTimeoutMs,
    onLost,
    setup: {
      databases: databases.shards.map(({ settings }) => toWorkerDatabase(settings)),
      connectionsMax: CONNECTIONS_PER_THREAD,
      page: PAGE,
      snapshotEvents: config.snapshotEvents,
      snapshotAtEnd: config.snapshotAtEnd,
      queryTimeoutMs: config.postgresQueryTimeoutMs,
      secretNames: config.redact ? config.redactKeys : null,
      secretKeys: endpoints.secretKeys,
      engine: engineSettings(config, environment),
    },
  })
}

/** What an installation sets of the engine. */
function engineSettings(config: Config, environment: Environment): EngineSettings {
  const named = config.engineEnv.map((name) => [name, environment[name]] as const)
  return {
    ...ENGINE_DEFAULTS,
    loopInFlight: config.engineLoopInFlight,
    maxVisits: config.engineMaxVisits,
    toolErrors: config.engineToolErrors,
    nativeNoop: config.engineNativeNoop,
    fullContext: config.engineCommandContext === 'full',
    env: Object.fromEntries(named.filter((pair): pair is [string, string] => pair[1] !== undefined)),
  }
}

function listeners(deps: Deps, state: StateService, onHint: Told['onHint']): Service[] {
  if (!deps.config.stateNotify) return []
  return deps.databases.shards.map(({ settings }, shard) =>
    createListener({
      settings,
      channel: LISTEN_CHANNEL,
      clock: deps.clock,
      onHint: (payload) => {
        const ids = payload?.split(',')
        if (ids === undefined) state.rescan(shard)
        else for (const id of ids) state.trigger(id)
        onHint?.(ids)
      },
      onError: loopErrors(deps, 'state listen'),
    }),
  )
}

function stateHooks(deps: Deps): Omit<StateHooks, 'onIssued' | 'onChildren'> {
  const { metrics } = deps
  const log = componentLog(deps.log, 'state')
  const onError = loopErrors(deps, 'state')
  return {
    onAdvanced: (applied, seconds) => {
      metrics.inc('noetl_cp_state_advances_total')
      metrics.inc('noetl_cp_state_events_applied_total', {}, applied)
      metrics.observe('noetl_cp_state_advance_seconds', seconds)
    },
    onFailed: onError,
    onCoalesced: () => metrics.inc('noetl_cp_state_triggers_coalesced_total'),
    onEvicted: (reason) => metrics.inc('noetl_cp_state_evictions_total', { reason }),
    onTally: (tally) => {
      metrics.inc('noetl_cp_snapshots_written_total', {}, tally.snapshots)
      metrics.inc('noetl_cp_snapshot_errors_total', {}, tally.snapshotErrors)
      metrics.inc('noetl_cp_state_rebuilds_total', { from: 'snapshot' }, tally.rebuilds.snapshot)
      metrics.inc('noetl_cp_state_rebuilds_total', { from: 'log' }, tally.rebuilds.log)
      for (const { reason, executionId, version } of tally.rejected) {
        metrics.inc('noetl_cp_snapshot_rejected_total', { reason })
        log.warn({ reason, executionId, version }, 'a snapshot cannot be used; the state was built from the log')
      }
    },
    onDecision: (outcome, seconds) => {
      metrics.inc('noetl_cp_state_decisions_total', { outcome })
      if (outcome === 'appended') metrics.observe('noetl_cp_state_decision_seconds', seconds)
    },
    onTakenOver: (lanes) => log.info({ lanes }, 'took over lanes of a daemon that vanished'),
    onError,
  }
}

function observe({ metrics, databases }: Deps, state: StateService): void {
  metrics.onCollect(() => {
    const { entries, bytes, queued, tracked, lanes } = state.stats()
    metrics.set('noetl_cp_state_entries', entries)
    metrics.set('noetl_cp_state_bytes', bytes)
    metrics.set('noetl_cp_state_queued', queued)
    metrics.set('noetl_cp_state_tracked', tracked)
    for (const shard of databases.shards.keys())
      metrics.set('noetl_cp_state_lanes', lanes[shard] ?? 0, { shard: String(shard) })
  })
}
