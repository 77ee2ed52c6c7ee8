// One start of the Postgres server on an existing cluster: stops what an earlier run left there, starts it
// on loopback only, and waits until it really answers. Restarting is the supervisor's business. It is
// never started beside another server on the same cluster, and never listens on anything but 127.0.0.1.

import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { readIfPresent } from './atomicFile.js'
import type { EmbeddedLog } from './embeddedLog.js'
import { type LeashedChild, type StopStep, startLeashed } from './leash.js'
import type { LogFile } from './logFile.js'
import { stopOrphans } from './orphans.js'
import type { Placement } from './placement.js'
import { pollUntil } from './pollUntil.js'
import { LOOPBACK } from './ports.js'
import type { PostgresBinaries } from './postgresBinaries.js'
import { findProcesses, findWorkingIn, isAlive } from './processIdentity.js'

export interface PostgresStart {
  place: Placement
  binaries: PostgresBinaries
  port: number
  log: EmbeddedLog
  logFile: LogFile
}

/** Long, because recovery after a crash replays up to max_wal_size of log before the server answers. */
const READY_DEADLINE_MS = 300_000
const STILL_WAITING_EVERY_MS = 10_000
const PROBE_DEADLINE_MS = 2_000

// Fast shutdown rolls open transactions back; immediate loses nothing committed but costs a recovery.
const ABANDONED = [
  { signal: 'INT', waitMs: 20_000 },
  { signal: 'QUIT', waitMs: 5_000 },
] as const

export function postgresStopSteps(deadlineMs: number): StopStep[] {
  return [
    { signal: 'INT', waitMs: deadlineMs * 0.6 },
    { signal: 'QUIT', waitMs: deadlineMs * 0.25 },
    { signal: 'KILL', waitMs: deadlineMs * 0.15 },
  ]
}

export async function startPostgres(start: PostgresStart, signal: AbortSignal): Promise<LeashedChild> {
  await clearCluster(start.place, start.log, signal)
  const from = start.logFile.size()
  const child = await startLeashed({
    name: 'Postgres',
    program: start.binaries.postgres,
    args: ['-D', start.place.data, ...serverSettings(start.port).flatMap((setting) => ['-c', setting])],
    user: start.place.user,
    logFd: start.logFile.fd,
    whenAbandoned: ABANDONED,
  })
  try {
    await waitUntilReady(start, child, signal, from)
    return child
  } catch (error) {
    await child.stop(postgresStopSteps(20_000))
    throw error
  }
}

// Given with every start, so they hold whatever the cluster's own files say.
function serverSettings(port: number): string[] {
  return [
    `listen_addresses=${LOOPBACK}`,
    `port=${port}`,
    'unix_socket_directories=',
    'logging_collector=off',
    'log_destination=stderr',
    'TimeZone=UTC',
    'log_timezone=UTC',
  ]
}

/** Leaves no server on the cluster, whoever started it; to be called under the lock of the data folder. */
export async function clearCluster(place: Placement, log: EmbeddedLog, signal: AbortSignal): Promise<void> {
  const { data } = place
  const leaders = () => findProcesses({ program: 'postgres', argument: data })
  await stopOrphans(
    {
      name: 'Postgres',
      leaders,
      // Backends of a killed postmaster notice it by themselves; until then they still hold the cluster.
      everyone: () => [...new Set([...leaders(), ...findWorkingIn('postgres', data)])],
      steps: [
        { signal: 'INT', waitMs: 30_000 },
        { signal: 'QUIT', waitMs: 10_000 },
        { signal: 'KILL', waitMs: 5_000 },
      ],
    },
    log,
    signal,
  )
  // Postgres would not start if the pid in its file now belongs to some other program of the same user.
  const pidFile = join(data, 'postmaster.pid')
  const pid = Number((await readIfPresent(pidFile))?.split('\n')[0])
  if (isAlive(pid)) await rm(pidFile, { force: true })
}

async function waitUntilReady(
  start: PostgresStart,
  child: LeashedChild,
  signal: AbortSignal,
  from: number,
): Promise<void> {
  const begun = performance.now()
  let saidAt = begun
  const ready = await pollUntil(
    async () => {
      if (child.exitCode !== undefined) return false
      if (performance.now() - saidAt > STILL_WAITING_EVERY_MS) {
        saidAt = performance.now()
        start.log('info', 'Postgres is still starting; after a crash it first replays its log', {
          seconds: Math.round((saidAt - begun) / 1000),
        })
      }
      if (!(await saysReady(start.place.data, child.pid))) return undefined
      return (await answers(start.port)) ? true : undefined
    },
    { everyMs: 20, deadlineMs: READY_DEADLINE_MS, signal },
  )
  if (ready) return
  const what =
    ready === false ? `ended with exit code ${child.exitCode}` : `was not ready after ${READY_DEADLINE_MS / 1000} s`
  throw new CpError(
    'unavailable',
    `the embedded Postgres ${what}. Its last lines (${start.logFile.path}):\n${await start.logFile.tail(12, from)}\n` +
      `Correct what they name; the data is in ${start.place.data} and was not changed`,
  )
}

/** The eighth line of postmaster.pid is the server's own word on its state. */
async function saysReady(data: string, pid: number): Promise<boolean> {
  const lines = (await readIfPresent(join(data, 'postmaster.pid')))?.split('\n') ?? []
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

/** Asks whether the server would speak TLS: answered by a new backend before any login. */
export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, timeout: PROBE_DEADLINE_MS })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => socket.write(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])))
    socket.once('data', (data) => end(data[0] === 0x4e || data[0] === 0x53))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
