// A nats-server of a test's own, for what must not be done to the shared one: other credentials, kill, stop.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNatsServer } from '../../src/embedded/natsBinary.js'
import { freePort } from './freePort.js'
import { until } from './until.js'

export interface OwnNats {
  readonly port: number
  /** Where it keeps its streams. */
  readonly folder: string
  pid(): number
  kill(): Promise<void>
  /** On the same port and the same files. */
  start(): Promise<void>
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function startNats(args: readonly string[] = []): Promise<OwnNats> {
  const program = await findNatsServer(process.env['NOETL_CP_NATS_SERVER'], process.env['PATH'])
  const folder = await mkdtemp(join(tmpdir(), 'noetl-nats-'))
  const port = await freePort()
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn(program, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder, ...args], { stdio: 'ignore' })
    running.add(child)
    await until('nats-server answers', () => answers(port))
  }
  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
    running.delete(child)
  }
  await start()
  return {
    port,
    folder,
    pid: () => child.pid!,
    kill,
    start,
    stop: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (data) => end(data.toString().startsWith('INFO')))
    socket.once('error', () => end(false))
  })
}
