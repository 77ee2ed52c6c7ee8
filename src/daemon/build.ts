// Deps → the list of services of the daemon, in start order. Registering a loop or a route is one line here
// or in http/routes/index.ts.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { SettingView } from '../config/describe.js'
import { KEYS } from '../config/keys.js'
import { type ApiProtection, apiProtection } from '../domain/access/apiProtection.js'
import { buildRoutes } from '../http/routes/index.js'
import type { HttpServer } from '../http/server.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { sharedAnswer } from '../runtime/sharedAnswer.js'
import { createActivityKeeper } from '../services/access/activity.js'
import { apiFindings } from '../services/access/apiDoctor.js'
import { createConsoleCodes } from '../services/access/consoleCodes.js'
import { createCatalogRemoval } from '../services/catalog/catalogRemoval.js'
import { createEntryNames } from '../services/catalog/entryNames.js'
import { createCredentialWatch } from '../services/credentials/credentialWatch.js'
import { createAdopter } from '../services/events/adoption.js'
import { createEventFollowing } from '../services/events/eventFollowing.js'
import { assertNoSubscription } from '../services/executions/lookups.js'
import { createStepProgress } from '../services/executions/stepProgress.js'
import { databaseChecks, idsCheck, natsCheck, outboxCheck } from '../services/health/checks.js'
import { createHealthMonitor, type HealthMonitor } from '../services/health/health.js'
import { createInstanceOverview } from '../services/health/instanceOverview.js'
import type { Ids } from '../services/ids/ids.js'
import { createResultKeeper } from '../services/results/resultKeeper.js'
import { readResultText, resolveResult } from '../services/results/results.js'
import { createScheduler } from '../services/schedules/scheduler.js'
import type { SchemaPreparer } from '../services/schema/schemaPreparer.js'
import { VERSION } from '../version.js'
import { auditDeps } from './audit.js'
import { buildChildren } from './children.js'
import { buildCommands, commandLoops, commandNotices } from './commands.js'
import { buildCore } from './core.js'
import { credentialsDeps } from './credentials.js'
import type { Deps } from './deps.js'
import { examineInstance } from './doctor.js'
import { eventTableLoops } from './eventTableLoops.js'
import { buildFailureHooks } from './failureHooks.js'
import { buildHttpServer, consolePrefix, isEncrypted, tokenSettings } from './httpServer.js'
import { loopErrors } from './loopErrors.js'
import { buildNews } from './news.js'
import { outboxLoops } from './outboxLoops.js'
import { payloadFetch } from './payloadFetch.js'
import { buildProjectorLoop } from './projector.js'
import { apiFacts } from './protection.js'
import { buildRelays, wakeRelays } from './relays.js'
import { replayDeps, replayLoops } from './replay.js'
import { buildResults } from './results.js'
import { buildScrubbing } from './scrubbing.js'
import { buildStates } from './states.js'
import { createStreamWatch } from './streamWatch.js'
import { buildIngress, subscriptionDeps, subscriptionLoops } from './subscriptions.js'
import { buildWorker, type WorkerParts } from './worker.js'

export interface Built {
  services: Service[]
  health: HealthMonitor
  http: HttpServer
  protection(): ApiProtection
}

/** What the built-in worker sees of the machine. */
export interface DaemonSurroundings {
  environment: Readonly<Record<string, string | undefined>>
  dataDir: string
  workFolder: string
  /** How whoever started this calls a command of this instance. */
  commandLine(command: string): string
  /** For people, secrets masked. */
  settings: readonly SettingView[]
  /** For the run that started this instance. */
  onLook?: WorkerParts['onLook']
}

const DOCTOR_EVERY_MS = 10_000

/** `clusterId` names this installation in message headers. */
export function buildDaemon(deps: Deps, clusterId: string, schema: SchemaPreparer, around: DaemonSurroundings): Built {
  const { config, metrics, databases, bus, clock, random } = deps
  metrics.set('noetl_cp_build_info', 1, { version: VERSION })
  observeEventLoop(deps)
  tellShare(deps)

  const core = buildCore(deps, 'daemon')
  const { documents } = deps
  const { appender, ids, own, engine } = core
  const writing = { databases, large: deps.large, documents, appender, ids, clock, own, engine }
  const projector = {
    ...writing,
    onQuarantined: () => metrics.inc('noetl_cp_projector_quarantined_total'),
    fetchPayload: payloadFetch(config),
  }
  const health = buildHealth(deps, schema, core.ids)

  const stream = bus === undefined ? undefined : createStreamWatch(deps, bus)
  const commands = buildCommands(deps, core)
  metrics.onCollect(() => metrics.set('noetl_cp_workers_waiting', commands.waiting()))
  const told = {
    onIssued: commands.nudge,
    onChildren: () => children.keeper.nudge(),
    handOver: commands,
    onHint: (ids: readonly string[] | undefined) =>
      ids === undefined ? news.sources.hinted() : news.sources.appended(ids),
  }
  const states = buildStates(deps, core, told, around.environment)
  const results = buildResults(deps, core)
  const children = buildChildren(deps, core, states.threads, results.store)
  const loops: Service[] = [
    ...states.services,
    children.keeper,
    ...commandLoops(deps, core, commands, {
      wake: states.wake,
      tellWorkers: bus === undefined ? undefined : commandNotices(deps, bus, () => config.publicUrl ?? http.url()),
    }),
    createResultKeeper({ databases, clock, random, onError: loopErrors(deps, 'result keeper') }),
    createAdopter({
      databases,
      clock,
      random,
      intervalMs: config.adoptIntervalMs,
      onAdopted: (_shard, executionId, count) => {
        metrics.inc('noetl_cp_events_adopted_total', {}, count)
        states.wake([executionId])
      },
      onError: loopErrors(deps, 'adopter'),
    }),
  ]
  loops.push(
    createScheduler({
      ...writing,
      random,
      onStarted: (outcome) => metrics.inc('noetl_cp_schedule_starts_total', { outcome }),
      onError: loopErrors(deps, 'scheduler'),
    }),
  )
  loops.push(...buildFailureHooks(deps, writing, () => listeningAt(http)))
  loops.push(
    createActivityKeeper({
      databases,
      clock,
      random,
      retentionDays: config.activityRetentionDays,
      onError: loopErrors(deps, 'activity keeper'),
    }),
  )
  loops.push(createCatalogRemoval({ databases, clock, random, onError: loopErrors(deps, 'catalog removal') }))
  loops.push(...eventTableLoops(deps), ...outboxLoops(deps), ...replayLoops(deps))
  loops.push(...subscriptionLoops(deps, core, writing, () => news.sources.hinted()))
  if (bus !== undefined && stream !== undefined && config.relayEnabled) {
    const { relays, services } = buildRelays(deps, core, bus, {
      clusterId,
      share: true,
      httpUrl: () => http.url(),
      stream: stream.limits,
      tellsWorkers: stream.hasCommands,
    })
    loops.push(...services, ...wakeRelays(deps, core, relays, () => news.sources.hinted()))
  }
  if (bus !== undefined && config.projectorEnabled) loops.push(buildProjectorLoop(deps, bus, clusterId, projector))
  const following = createEventFollowing({ databases, clock })
  const scrubbing = buildScrubbing(deps)
  const instance = createInstanceOverview({ databases, documents, bus, health, clock })
  const news = buildNews(deps, instance, states.state)
  core.appender.onAppended((_shard, executionIds, _traces, _ended, _news, events) => {
    following.wake(executionIds)
    news.sources.appended(executionIds)
    metrics.inc('noetl_cp_events_written_total', {}, events)
  })
  const credentials = createCredentialWatch({ databases, clock, random, onError: loopErrors(deps, 'credential watch') })
  const queries = { databases, stepProgress: createStepProgress(), entryNames: createEntryNames(databases) }
  const protection = () => apiProtection(apiFacts(config, credentials.hasCredentials()))
  const http = buildHttpServer(
    deps,
    buildRoutes({
      health,
      metrics,
      version: VERSION,
      clusterId,
      startedAt: clock.monotonic(),
      clock,
      metricsOff: config.disableMetrics,
      sessions: {
        tokens: tokenSettings(deps),
        codes: createConsoleCodes(clock),
        clock,
        isSecure: isEncrypted(config),
        mode: deps.endpoints.mode,
        // Whoever looks at an instance with servers of its own is at the machine that started it.
        call: deps.endpoints.mode === 'embedded' ? around.commandLine('{}') : 'noetl-cp {}',
      },
      activity: { databases },
      console: {
        instance,
        findings: sharedAnswer(clock, DOCTOR_EVERY_MS, async () => [
          ...(await examineInstance(deps)),
          ...apiFindings(protection()),
        ]),
        settings: around.settings,
        version: VERSION,
        prefix: consolePrefix(config),
        mode: deps.endpoints.mode,
        isReadOnly: config.consoleMode === 'read-only',
      },
      ingest: { ...writing, appendClaims: commands.appendClaims },
      onAppended: (outcome) => {
        metrics.inc('noetl_cp_events_appended_total', { outcome: outcome.kind, source: 'api' })
        if (outcome.kind === 'ignored') {
          metrics.inc('noetl_cp_command_answers_ignored_total', { reason: outcome.reason })
        }
      },
      executions: writing,
      deadLetters: writing,
      rerun: { ...writing, keyring: deps.keyring },
      resuming: { ...writing, keyring: deps.keyring },
      following,
      news: news.board,
      series: news.series,
      jobs: news.jobs,
      snapshots: { databases, threads: states.threads },
      auditing: () => auditDeps(deps),
      results: { databases, resolve: (ref) => resolveResult(results.api, ref, true) },
      queries,
      analysis: { queries, stuck: { databases, state: states.state } },
      overview: { databases, connectionsPerDatabase: config.postgresMaxConnections },
      sql: { databases, enabled: config.sqlRoute, onCall: () => deps.log.warn('SQL was run over HTTP') },
      wholeEvents: {
        databases,
        shownEvent: (text, part) =>
          deps.parsers.run('shownEvent', { text, part, secretNames: config.redact ? config.redactKeys : null }),
      },
      pageBytes: config.pageMb * 1_048_576,
      catalog: writing,
      usedBy: { ...writing, onFailure: config.onFailure },
      credentials: credentialsDeps(deps, core.ids, credentials.stored),
      workerPools: { databases, ids: core.ids },
      commands,
      readResult: (ref) => readResultText(results.api, ref),
      containerCallback: { databases, commands },
      storedResults: results.api,
      vars: { ...writing, state: states.state },
      cleanup: { databases },
      topology: databases.topology,
      subscriptions: subscriptionDeps(deps, core),
      ingress: buildIngress(deps, core, writing),
      assertExecution: (id) => assertNoSubscription({ databases }, id),
      state: states.state,
      wakeOwners: states.wake,
      projector,
      replay: replayDeps(deps),
      scrubbing,
      replayProfile: config.replayProfile,
      outbox: {
        databases,
        random,
        leaseSeconds: config.outboxClaimLeaseSeconds,
        attemptsMax: config.outboxAttemptsMax,
        deadPolicy: config.outboxDeadPolicy,
        onFenced: (count) => metrics.inc('noetl_cp_outbox_fenced_total', {}, count),
        onDead: () => metrics.inc('noetl_cp_outbox_dead_total', { reason: 'attempts' }),
      },
    }),
    protection,
  )
  const worker = config.workerEnabled
    ? buildWorker(deps, core, {
        commands,
        results: results.store,
        children: children.pipelines(),
        around: { ...around, listening: () => listeningAt(http) },
        onLook: around.onLook,
      }).services
    : []
  const messaging = bus === undefined || stream === undefined ? [] : [bus, stream]
  return {
    // Whoever follows events is let go first: an answer that has no end would hold up the end of the HTTP server.
    services: [
      ...messaging,
      core.ids,
      schema,
      health,
      ...loops,
      credentials,
      scrubbing,
      news.sources,
      news.series,
      news.jobs,
      http,
      ...worker,
      following,
      news.board,
      commands,
    ],
    health,
    http,
    protection,
  }
}

function listeningAt(http: HttpServer): { host: string; port: number } {
  const { hostname, port } = new URL(http.url())
  return { host: hostname, port: Number(port) }
}

function buildHealth(deps: Deps, schema: SchemaPreparer, ids: Ids): HealthMonitor {
  const { metrics } = deps
  const log = componentLog(deps.log, 'health')
  return createHealthMonitor(
    [
      ...databaseChecks(deps.databases, schema.troubleWith),
      idsCheck(ids),
      natsCheck(deps.bus),
      outboxCheck(deps.databases, deps.bus, deps.config.outboxAgeMaxSeconds),
    ],
    {
      clock: deps.clock,
      random: deps.random,
      onResult: (result) => metrics.set('noetl_cp_dependency_up', result.ok ? 1 : 0, { dependency: result.name }),
      onChange: (result) => {
        if (result.ok) log.info({ dependency: result.name }, 'dependency is back')
        else log.warn({ dependency: result.name, reason: result.detail }, 'dependency is down')
      },
      onError: (error) => log.error({ err: error }, 'the health monitor failed'),
    },
  )
}

function observeEventLoop({ metrics }: Deps): void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  metrics.onCollect(() => {
    metrics.set('noetl_cp_event_loop_delay_p99_seconds', Math.max(0, delay.percentile(99) / 1e9))
    delay.reset()
  })
}

function tellShare({ config, databases, log }: Deps): void {
  const { shardIndex, shardCount } = databases.topology
  const isFromHost = config.shardIndexFromHostname && !config.shardIndex
  const source = config.shardIndex ? KEYS.shardIndex.env : isFromHost ? 'host name' : 'default'
  const count = databases.shards.length
  log.info({ shardIndex, shardCount, source, databases: count }, 'drives this share of the executions')
}
