// The daemon's life: start the embedded servers if nothing else is configured, prepare the schema, start
// the services, run until signalled, stop in reverse within the deadline.

import { describeSettings } from '../config/describe.js'
import type { LoadedConfig } from '../config/load.js'
import { readRuntimeFile, writeRuntimeFile } from '../embedded/runtimeFile.js'
import { type EmbeddedServers, startEmbedded } from '../embedded/startEmbedded.js'
import { CpError, toCpError } from '../errors.js'
import { systemClock } from '../runtime/clock.js'
import { componentLog, type Log } from '../runtime/log.js'
import { startAll, stopAll } from '../runtime/service.js'
import type { Shutdown } from '../runtime/shutdown.js'
import { type PrepareOptions, prepareSchema } from '../services/schema/schema.js'
import { createSchemaPreparer, type SchemaPreparer } from '../services/schema/schemaPreparer.js'
import { registerSealKey } from '../services/secrets/sealedValues.js'
import { readClusterId, setPublishesAdopted } from '../stores/ids/identityStore.js'
import { VERSION } from '../version.js'
import { banner } from './banner.js'
import { type Built, buildDaemon, type DaemonSurroundings } from './build.js'
import { type Deps, openDeps } from './deps.js'
import { derivedSettings } from './derivedSettings.js'
import { embeddedEndpoints, isProduction, productionEndpoints } from './endpoints.js'
import { assertProtected, assertServable } from './httpServer.js'
import { loopErrors } from './loopErrors.js'

export interface ServeOptions {
  loaded: LoadedConfig
  dataDir: string
  /** Of the process: PATH to find nats-server, and what steps may see. */
  environment: Readonly<Record<string, string | undefined>>
  /** How the person at the terminal runs one of our commands. */
  commandLine(command: string): string
  log: Log
  shutdown: Shutdown
  announce(text: string): void
  /** Only for the run that started it. */
  isPrivate?: boolean
  /** What the steps of a run print, as they print it. */
  onLook?: DaemonSurroundings['onLook']
  /** Where the API listens. */
  onReady?(httpUrl: string): void
}

const CLOSE_MS_MAX = 2_000

/** Answers the exit code: 0 after a graceful stop, 130 or 143 when a second signal forced it. */
export async function serve(options: ServeOptions): Promise<number> {
  const graceful = run(options).catch((error: unknown) => {
    // Told to stop while still starting: everything begun was undone, and that is what was asked for.
    if (options.shutdown.signal.aborted && toCpError(error).code === 'cancelled') return 0
    throw error
  })
  // Neither the deadline nor a second signal waits for anything that hangs; the leashes of the children end them.
  return Promise.race([graceful, options.shutdown.forced, overdue(options)])
}

/** Ends the stop when its time is up, whatever it waits for. */
async function overdue({ loaded, log, shutdown }: ServeOptions): Promise<number> {
  const { shutdownTimeoutMs, shutdownTimeoutSeconds: seconds } = loaded.config
  await untilAborted(shutdown.signal)
  await systemClock.sleep(shutdownTimeoutMs * STOP_SHARES.hard)
  log.error({ seconds }, 'the stop is not finished in time; ending without the rest, leases will run out by themselves')
  return 0
}

/** Parts of the time for a stop that have passed when its steps must be done; the rest is for the process itself. */
const STOP_SHARES = { services: 0.75, connections: 0.85, children: 0.96, hard: 0.98 }

async function run(options: ServeOptions): Promise<number> {
  const { config } = options.loaded
  assertProtected(config)
  const isEmbedded = !isProduction(options.loaded)
  // Of a second daemon on the same folder the folder's own refusal says more than a port in use.
  if (!isEmbedded || (await readRuntimeFile(options.dataDir)) === undefined) await assertServable(config)
  const started = performance.now()
  const stopMs = config.shutdownTimeoutMs
  const embedded = isEmbedded ? await startServers(options) : undefined
  let deps: Deps | undefined
  let built: Built | undefined
  try {
    const endpoints =
      embedded === undefined ? productionEndpoints(config) : embeddedEndpoints(config, embedded, embedded.secretKeys)
    deps = openDeps({
      config,
      endpoints,
      log: options.log,
      applicationName: 'noetl-cp serve',
      isDaemon: true,
      secretOf: options.loaded.secretOf,
    })
    const schema = await prepareDatabases(deps, embedded !== undefined)
    await checkSecretKeys(deps)
    built = buildDaemon(deps, await readClusterId(deps.databases.cluster.db), schema, {
      environment: options.environment,
      dataDir: options.dataDir,
      workFolder: process.cwd(),
      commandLine: options.commandLine,
      settings: describeSettings(
        options.loaded,
        derivedSettings(options.loaded, { dataDir: options.dataDir, servers: embedded }),
      ),
      onLook: options.onLook,
    })
    await startAll(built.services, stopMs * STOP_SHARES.services)
    if (embedded !== undefined) await announceInstance(deps, built, embedded, options.isPrivate ?? false)
    options.announce(
      banner(deps, {
        httpUrl: built.http.url(),
        protection: built.protection(),
        embedded: embedded && {
          dataDir: embedded.locations.dataDir,
          postgres: embedded.locations.postgres,
          postgresPid: embedded.pids.postgres,
          natsPid: embedded.pids.nats,
        },
        startedInMs: performance.now() - started,
        commandLine: options.commandLine,
      }),
    )
    if (options.shutdown.signal.aborted) throw new CpError('cancelled', 'stopped before the daemon was ready')
    options.onReady?.(built.http.url())
    await untilAborted(options.shutdown.signal)
    options.log.info('stopping')
    return 0
  } finally {
    const began = performance.now()
    const leftMs = (share: number): number => Math.max(1, began + stopMs * share - performance.now())
    built?.health.drain()
    const errors = built === undefined ? [] : await stopAll(built.services, leftMs(STOP_SHARES.services))
    for (const error of errors) options.log.error({ err: error }, 'a service did not stop cleanly')
    await deps?.close(Math.min(CLOSE_MS_MAX, leftMs(STOP_SHARES.connections)))
    await embedded?.stop(leftMs(STOP_SHARES.children))
    options.log.info('stopped')
  }
}

/** Said at every start: what is missing here is noticed only when a later step needs it. */
async function checkSecretKeys({ databases, keyring, config, log }: Deps): Promise<void> {
  if (config.redact && keyring.sealingKeyId === undefined) {
    log.warn('there is no NOETL_CP_SECRET_KEY: secrets in events are removed for good, and no later step can use them')
  }
  for (const keyId of await registerSealKey(databases, keyring)) {
    log.error({ keyId }, 'events were sealed with a key that is not at hand here; add it to NOETL_CP_SECRET_KEY')
  }
}

async function prepareDatabases(deps: Deps, isEmbedded: boolean): Promise<SchemaPreparer> {
  const log = componentLog(deps.log, 'schema')
  const options: PrepareOptions = {
    autoMigrate: deps.config.autoMigrate || isEmbedded,
    onApplied: (label, migration) => log.info({ database: label, migration: migration.name }, 'applied migration'),
    onReady: ({ db }) => setPublishesAdopted(db, deps.config.publishAdopted),
  }
  // The first start applies all of them: one line, not one each.
  const applied = new Map<string, number>()
  const unprepared = await prepareSchema(deps.databases, {
    ...options,
    onApplied: (label) => applied.set(label, (applied.get(label) ?? 0) + 1),
  })
  for (const [database, count] of applied) log.info({ database }, `applied ${count} migration(s)`)
  for (const { database, reason } of unprepared)
    log.warn({ database: database.label, reason }, 'starting without this shard; it is used when it comes back')
  return createSchemaPreparer(unprepared, {
    ...options,
    clock: deps.clock,
    random: deps.random,
    onPrepared: (label) => log.info({ database: label }, 'the shard is back and its schema is ready'),
    onError: loopErrors(deps, 'schema'),
  })
}

async function startServers(options: ServeOptions): Promise<EmbeddedServers> {
  const { config } = options.loaded
  const log = componentLog(options.log, 'embedded')
  return startEmbedded({
    dataDir: options.dataDir,
    postgresPort: config.embeddedPostgresPort,
    natsPort: config.embeddedNatsPort,
    natsServerPath: config.natsServerPath,
    pathEnv: options.environment['PATH'],
    version: VERSION,
    log: (level, message, fields) => log[level](fields ?? {}, message),
    signal: options.shutdown.signal,
  })
}

async function announceInstance(
  deps: Deps,
  built: Built,
  embedded: EmbeddedServers,
  isPrivate: boolean,
): Promise<void> {
  await writeRuntimeFile(embedded.locations.dataDir, {
    version: VERSION,
    httpUrl: built.http.url(),
    databaseUrl: embedded.databaseUrl,
    natsUrl: embedded.natsUrl,
    natsToken: embedded.natsToken,
    natsConfigFile: embedded.natsConfigFile,
    internalToken: embedded.internalToken,
    apiToken: embedded.apiToken,
    startedAt: new Date(deps.clock.now()).toISOString(),
    isPrivate,
  })
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
