// Runs the built binary as a user would: a command to its end, or the daemon as a child process.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from './until.js'

export const BINARY = fileURLToPath(new URL('../../bin/noetl-cp.js', import.meta.url))

export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  input?: string
  timeoutMs?: number
  /** Modules preloaded with --import, to plant faults from outside. */
  preload?: string[]
  /** Run as somebody else, from a tree that this user can read. */
  user?: { uid: number; gid: number }
  binary?: string
}

/** Only what a user's shell would have, so that settings of the machine do not leak into tests. */
function cleanEnv(extra: Record<string, string | undefined> = {}): Record<string, string> {
  const kept: Record<string, string | undefined> = {}
  for (const name of ['PATH', 'HOME', 'LANG', 'TMPDIR', 'NOETL_CP_NATS_SERVER']) kept[name] = process.env[name]
  const all = { ...kept, ...extra }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

export async function runBinary(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const preload = (options.preload ?? []).flatMap((module) => ['--import', module])
  const child = spawn(process.execPath, [...preload, options.binary ?? BINARY, ...args], {
    env: cleanEnv(options.env),
    stdio: 'pipe',
    ...options.user,
  })
  const finished = collect(child)
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 90_000)
  try {
    return await finished
  } finally {
    clearTimeout(timer)
  }
}

function collect(child: ChildProcess): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

export interface Daemon {
  readonly pid: number
  readonly url: string
  stdout(): string
  stderr(): string
  signal(signal: NodeJS.Signals): void
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Finished>
  finished: Promise<Finished>
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; text: string; body: any }>
}

/** The daemon ended before it was ready. */
export class EndedEarly extends Error {
  constructor(readonly result: Finished) {
    super(`the daemon ended early with ${result.code ?? result.signal}:\n${result.stdout}\n${result.stderr}`)
  }
}

/** Long enough for a machine that has much else to do. */
const ANSWER_MS = 60_000

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function startDaemon(args: readonly string[], options: RunOptions = {}): Promise<Daemon> {
  const preload = (options.preload ?? []).flatMap((module) => ['--import', module])
  const child = spawn(process.execPath, [...preload, options.binary ?? BINARY, 'serve', '--port', '0', ...args], {
    env: cleanEnv(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options.user,
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const finished = collect(child).finally(() => running.delete(child))
  let ended = false
  void finished.then(() => {
    ended = true
  })
  const early = finished.then((result) => {
    throw new EndedEarly(result)
  })
  const ready = until('the daemon is ready', () => /API +(https?:\/\/\S+)/.exec(stdout)?.[1], {
    timeoutMs: options.timeoutMs ?? 90_000,
  })
  ready.catch(() => undefined)
  const url = await Promise.race([ready, early]).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error instanceof EndedEarly ? error : new Error(`${String(error)}\n${stdout}\n${stderr}`)
  })
  early.catch(() => undefined)
  return {
    pid: child.pid!,
    url,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (signal) => process.kill(child.pid!, signal),
    stop: async (signal = 'SIGTERM') => {
      if (!ended) child.kill(signal)
      return finished
    },
    finished,
    get: async (path, headers = {}) => {
      const response = await fetch(new URL(path, url), { headers, signal: AbortSignal.timeout(ANSWER_MS) })
      const text = await response.text()
      let body: unknown
      try {
        body = JSON.parse(text)
      } catch {
        body = undefined
      }
      return { status: response.status, text, body }
    },
  }
}
