// Gives a daemon without configured servers its own Postgres and nats-server: takes the data folder,
// prepares it, starts both at the same time, keeps them running and stops them. Either everything runs
// when this returns, or nothing does and the folder is free again.

import { join } from 'node:path'
import { CpError, messageOf } from '../errors.js'
import { bringUpNats, bringUpPostgres, type Cleanup, type Running } from './bringUp.js'
import { type DataFolder, openDataFolder, removeUnfinished } from './dataFolder.js'
import type { EmbeddedLog } from './embeddedLog.js'
import { acquireLock } from './lock.js'
import { type LogFile, openLogFile } from './logFile.js'
import { findNatsServer, reachableNatsServer, USUAL_FOLDERS } from './natsBinary.js'
import { natsPaths } from './natsConfig.js'
import { natsStopSteps } from './natsServer.js'
import { type Placement, placeServers, SHARED_ROOT } from './placement.js'
import { LOOPBACK, readPorts, writePorts } from './ports.js'
import { findPackageTree, preparePostgresBinaries } from './postgresBinaries.js'
import { DATABASE, SUPERUSER } from './postgresCluster.js'
import { postgresStopSteps } from './postgresServer.js'
import { removeRuntimeFile } from './runtimeFile.js'
import { loadSecretKeys } from './secretKey.js'
import { loadSecrets, type Secrets } from './secrets.js'

export interface EmbeddedOptions {
  dataDir: string
  postgresPort: number | undefined
  natsPort: number | undefined
  natsServerPath: string | undefined
  pathEnv: string | undefined
  version: string
  log: EmbeddedLog
  /** Where the cluster of root goes when its user cannot enter the data folder; SHARED_ROOT when undefined. */
  sharedRoot?: string | undefined
  /** Ends a start that is under way; everything begun is undone. */
  signal?: AbortSignal | undefined
}

export interface EmbeddedServers {
  databaseUrl: string
  natsUrl: string
  natsToken: string
  internalToken: string
  apiToken: string
  secretKeys: readonly string[]
  natsConfigFile: string
  locations: { dataDir: string; postgres: string; nats: string; logs: string }
  /** Of the present children; they change when one had to be restarted. */
  readonly pids: { postgres: number; nats: number }
  /** Stops both, frees the data folder and removes the runtime file. Asking again changes nothing. */
  stop(deadlineMs: number): Promise<void>
}

interface RunningPair {
  folder: DataFolder
  place: Placement
  secrets: Secrets
  secretKeys: readonly string[]
  postgres: Running
  nats: Running
  /** Locks and log files. */
  holdings: Cleanup
  log: EmbeddedLog
}

const LOG_BYTES_MAX = 16 * 1024 * 1024

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServers> {
  const holdings: Cleanup = []
  try {
    return await start(options, holdings)
  } catch (error) {
    await giveBack(holdings, options.log)
    if (error instanceof CpError) throw error
    throw new CpError(
      'unavailable',
      `the embedded servers could not be started in ${options.dataDir}: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

async function start(options: EmbeddedOptions, holdings: Cleanup): Promise<EmbeddedServers> {
  const begun = performance.now()
  const { log } = options
  const asRoot = process.getuid?.() === 0
  const sharedRoot = options.sharedRoot ?? SHARED_ROOT
  const found = await findNatsServer(options.natsServerPath, options.pathEnv, [
    ...USUAL_FOLDERS,
    join(options.dataDir, 'tools'),
  ])
  const tree = await findPackageTree()
  const folder = await openDataFolder(options.dataDir, asRoot)
  stopIfAsked(options.signal)
  await hold(folder.lockFile, folder.root, holdings)
  await removeUnfinished(folder.root)
  const { secrets, created: newSecrets } = await loadSecrets(folder.secretsFile)
  const secretKeys = await loadSecretKeys(folder.root)
  const place = await placeServers(folder, asRoot, sharedRoot)
  // Copying a data folder copies its pointer too; the cluster itself must still have one owner.
  if (place.outside) await hold(join(place.folder, 'daemon.lock'), place.folder, holdings)
  const program = await reachableNatsServer(found, place.user, sharedRoot)
  const binaries = await preparePostgresBinaries(tree, place.user, asRoot ? sharedRoot : folder.postgres)
  stopIfAsked(options.signal)
  const remembered = await readPorts(folder.portsFile)
  const postgresLog = await openLog(join(folder.logs, 'postgres.log'), holdings)
  const natsLog = await openLog(join(folder.logs, 'nats-server.log'), holdings)

  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const children: Cleanup = []
  const shared = { folder, secrets, remembered, signal, cleanup: children, log }
  const starts = [
    bringUpPostgres({
      ...shared,
      configuredPort: options.postgresPort,
      place,
      binaries,
      newSecrets,
      logFile: postgresLog,
    }),
    bringUpNats({ ...shared, configuredPort: options.natsPort, place, program, logFile: natsLog }),
  ] as const
  const [postgres, nats] = await bothOrNeither(starts, failed, children, log)
  const ports = { postgres: postgres.port, nats: nats.port }
  await writePorts(folder.portsFile, ports).catch((error: unknown) => {
    log('warn', 'the chosen ports could not be noted; the next start may choose others', { reason: messageOf(error) })
  })
  log('info', 'the embedded servers run', { ...ports, milliseconds: Math.round(performance.now() - begun) })
  return toServers({ folder, place, secrets, secretKeys, postgres, nats, holdings, log })
}

function toServers(pair: RunningPair): EmbeddedServers {
  const { folder, place, secrets, secretKeys, postgres, nats } = pair
  let stopping: Promise<void> | undefined
  return {
    databaseUrl: `postgres://${SUPERUSER}:${secrets.postgresPassword}@${LOOPBACK}:${postgres.port}/${DATABASE}`,
    natsUrl: `nats://${LOOPBACK}:${nats.port}`,
    natsToken: secrets.natsToken,
    internalToken: secrets.internalToken,
    apiToken: secrets.apiToken,
    secretKeys,
    natsConfigFile: natsPaths(place.nats).config,
    locations: { dataDir: folder.root, postgres: place.data, nats: place.nats, logs: folder.logs },
    get pids() {
      return { postgres: postgres.child.pid, nats: nats.child.pid }
    },
    stop(deadlineMs) {
      stopping ??= stopPair(pair, deadlineMs)
      return stopping
    },
  }
}

async function stopPair(pair: RunningPair, deadlineMs: number): Promise<void> {
  const results = await Promise.allSettled([
    pair.nats.child.stop(natsStopSteps(deadlineMs)),
    pair.postgres.child.stop(postgresStopSteps(deadlineMs)),
  ])
  await removeRuntimeFile(pair.folder.root).catch((error: unknown) => {
    pair.log('warn', 'the runtime file could not be removed', { reason: messageOf(error) })
  })
  await giveBack(pair.holdings, pair.log)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** When one start fails the other is ended too, and the failure that came first is the one reported. */
async function bothOrNeither<A, B>(
  starts: readonly [Promise<A>, Promise<B>],
  failed: AbortController,
  children: Cleanup,
  log: EmbeddedLog,
): Promise<[A, B]> {
  try {
    return await Promise.all(starts)
  } catch (error) {
    failed.abort()
    await Promise.allSettled(starts)
    await giveBack(children, log)
    throw error
  }
}

/** Copying programs to a slow disk takes its time; nobody who asks for the end should wait for the next wait. */
function stopIfAsked(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CpError('cancelled', 'stopped before the embedded servers were started')
}

async function hold(lockFile: string, folder: string, holdings: Cleanup): Promise<void> {
  const lock = await acquireLock(lockFile, folder)
  holdings.push(() => lock.release())
}

async function openLog(path: string, holdings: Cleanup): Promise<LogFile> {
  const file = await openLogFile(path, LOG_BYTES_MAX)
  holdings.push(() => file.close())
  return file
}

async function giveBack(holdings: Cleanup, log: EmbeddedLog): Promise<void> {
  for (const release of holdings.splice(0).reverse()) {
    await release().catch((error: unknown) => {
      log('warn', 'something of the embedded servers could not be given back', { reason: messageOf(error) })
    })
  }
}
