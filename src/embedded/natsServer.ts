// One start of nats-server: stops what an earlier run left there, writes its config (loopback, token, JetStream on
// files), starts it and waits for its greeting. Restarting is the supervisor's business. The token
// is only ever in the private config file, never in an argument or a log line.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { CpError } from '../errors.js'
import type { EmbeddedLog } from './embeddedLog.js'
import { type LeashedChild, type StopStep, startLeashed } from './leash.js'
import type { LogFile } from './logFile.js'
import { natsPaths, writeNatsConfig } from './natsConfig.js'
import { stopOrphans } from './orphans.js'
import { pollUntil } from './pollUntil.js'
import { LOOPBACK } from './ports.js'
import { findProcesses } from './processIdentity.js'
import type { ServiceUser } from './serviceUser.js'

export interface NatsStart {
  program: string
  folder: string
  port: number
  token: string
  /** Undefined: it runs as we do. */
  user: ServiceUser | undefined
  log: EmbeddedLog
  logFile: LogFile
}

/** Long, because a large store is checked before the server listens. */
const READY_DEADLINE_MS = 120_000
const PROBE_DEADLINE_MS = 2_000
const GREETING_BYTES_MAX = 65_536

const ABANDONED = [
  { signal: 'TERM', waitMs: 10_000 },
  { signal: 'TERM', waitMs: 5_000 },
] as const

export function natsStopSteps(deadlineMs: number): StopStep[] {
  return [
    { signal: 'TERM', waitMs: deadlineMs * 0.8 },
    { signal: 'KILL', waitMs: deadlineMs * 0.2 },
  ]
}

export async function startNats(start: NatsStart, signal: AbortSignal): Promise<LeashedChild> {
  await clearStore(start.folder, start.log, signal)
  const { port, token } = start
  await writeNatsConfig(start.folder, { serverName: serverName(start.folder), port, token }, start.user)
  const from = start.logFile.size()
  const child = await startLeashed({
    name: 'nats-server',
    program: start.program,
    args: ['-c', natsPaths(start.folder).config],
    user: start.user,
    logFd: start.logFile.fd,
    whenAbandoned: ABANDONED,
  })
  try {
    await waitUntilReady(start, child, signal, from)
    return child
  } catch (error) {
    await child.stop(natsStopSteps(10_000))
    throw error
  }
}

/** Leaves no server on the store; to be called under the lock of the data folder. */
export async function clearStore(folder: string, log: EmbeddedLog, signal: AbortSignal): Promise<void> {
  const find = () => findProcesses({ program: 'nats-server', argument: natsPaths(folder).config })
  const steps = [
    { signal: 'TERM', waitMs: 15_000 },
    { signal: 'KILL', waitMs: 5_000 },
  ] as const
  await stopOrphans({ name: 'nats-server', leaders: find, everyone: find, steps }, log, signal)
}

function serverName(folder: string): string {
  return `noetl-cp-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`
}

async function waitUntilReady(start: NatsStart, child: LeashedChild, signal: AbortSignal, from: number): Promise<void> {
  const name = serverName(start.folder)
  const ready = await pollUntil(
    async () => {
      if (child.exitCode !== undefined) return false
      const greeting = await readGreeting(start.port)
      // The name tells our server from another that took the port first.
      return greeting?.['server_name'] === name && greeting['jetstream'] === true ? true : undefined
    },
    { everyMs: 20, deadlineMs: READY_DEADLINE_MS, signal },
  )
  if (ready) return
  const what =
    ready === false ? `ended with exit code ${child.exitCode}` : `was not ready after ${READY_DEADLINE_MS / 1000} s`
  throw new CpError(
    'unavailable',
    `the embedded nats-server ${what}. Its last lines (${start.logFile.path}):\n${await start.logFile.tail(12, from)}\n` +
      `Correct what they name; the data is in ${start.folder} and was not changed`,
  )
}

/** The INFO line every NATS server sends first. */
function readGreeting(port: number): Promise<Record<string, unknown> | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, timeout: PROBE_DEADLINE_MS })
    let text = ''
    const end = (greeting?: Record<string, unknown>) => {
      socket.destroy()
      resolve(greeting)
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
      const line = text.indexOf('\r\n')
      if (line >= 0) end(parseGreeting(text.slice(0, line)))
      else if (text.length > GREETING_BYTES_MAX) end()
    })
    socket.once('timeout', () => end())
    socket.once('error', () => end())
    socket.once('close', () => end())
  })
}

function parseGreeting(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('INFO ')) return undefined
  try {
    return JSON.parse(line.slice(5)) as Record<string, unknown>
  } catch {
    return undefined
  }
}
