// Brings each of the two children from "prepared" to "answering and watched over", on a port that is its
// own. Whatever it starts is handed to `cleanup` at once, so that a failure elsewhere can undo it.

import { lstatIfPresent } from './atomicFile.js'
import type { DataFolder } from './dataFolder.js'
import type { EmbeddedLog } from './embeddedLog.js'
import { giveAway, moveFolder } from './givenAway.js'
import type { LogFile } from './logFile.js'
import { natsPaths } from './natsConfig.js'
import { clearStore, natsStopSteps, startNats } from './natsServer.js'
import type { Placement } from './placement.js'
import { choosePort, isFree, type PortBook, type PortName } from './ports.js'
import type { PostgresBinaries } from './postgresBinaries.js'
import { ensureCluster, setPassword } from './postgresCluster.js'
import { clearCluster, postgresStopSteps, startPostgres } from './postgresServer.js'
import type { Secrets } from './secrets.js'
import { type Supervised, supervise } from './supervisor.js'

/** What has to be given back, latest first. */
export type Cleanup = (() => Promise<unknown>)[]

interface Shared {
  folder: DataFolder
  secrets: Secrets
  configuredPort: number | undefined
  remembered: PortBook
  signal: AbortSignal
  cleanup: Cleanup
  log: EmbeddedLog
  logFile: LogFile
}

export interface PostgresJob extends Shared {
  place: Placement
  binaries: PostgresBinaries
  /** The secrets file was made in this start: an older cluster still has another password. */
  newSecrets: boolean
}

export interface NatsJob extends Shared {
  place: Placement
  program: string
}

export interface Running {
  port: number
  child: Supervised
}

const PORT_ATTEMPTS_MAX = 3
const UNDO_DEADLINE_MS = 20_000

export async function bringUpPostgres(job: PostgresJob): Promise<Running> {
  const { place, binaries, log, logFile, signal } = job
  const cluster = { place, binaries, password: job.secrets.postgresPassword, log, logFile, signal }
  const existed = await ensureCluster(cluster)
  if (existed && job.newSecrets) {
    log('warn', 'the secrets file was missing; giving the existing database a new password')
    await clearCluster(place, log, signal)
    await setPassword(cluster)
  }
  return onFreePort('postgres', job.configuredPort, job.remembered.postgres, async (port) => {
    const start = (until: AbortSignal) => startPostgres({ place, binaries, port, log, logFile }, until)
    const child = supervise({ name: 'Postgres', start, log }, await start(signal))
    job.cleanup.push(() => child.stop(postgresStopSteps(UNDO_DEADLINE_MS)))
    return { port, child }
  })
}

export async function bringUpNats(job: NatsJob): Promise<Running> {
  const { program, log, logFile, signal } = job
  const { nats: folder, user } = job.place
  const token = job.secrets.natsToken
  await prepareStore(job)
  return onFreePort('nats', job.configuredPort, job.remembered.nats, async (port) => {
    const start = (until: AbortSignal) => startNats({ program, folder, port, token, user, log, logFile }, until)
    const child = supervise({ name: 'nats-server', start, log }, await start(signal))
    job.cleanup.push(() => child.stop(natsStopSteps(UNDO_DEADLINE_MS)))
    return { port, child }
  })
}

/** Older versions ran nats-server as root, in the data folder, whoever could enter it. */
async function prepareStore({ folder, place, log, signal }: NatsJob): Promise<void> {
  const { store } = natsPaths(place.nats)
  const older = natsPaths(folder.nats).store
  if (place.outside && !(await isFolder(store)) && (await isFolder(older))) {
    await clearStore(folder.nats, log, signal)
    await moveFolder(older, store)
  }
  await giveAway(store, place.user)
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstatIfPresent(path))?.isDirectory() ?? false
}

/** Another program may take the port between our look and the child's start; only then another is tried. */
async function onFreePort<T>(
  name: PortName,
  configured: number | undefined,
  remembered: number | undefined,
  use: (port: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(name, configured, remembered)
    try {
      return await use(port)
    } catch (error) {
      if (configured !== undefined || attempt >= PORT_ATTEMPTS_MAX || (await isFree(port))) throw error
    }
  }
}
