// Promise: however many commands a daemon runs, it keeps nothing of them: no process, no socket or file, and no memory. A third
// of them goes wrong, since what goes wrong is what is forgotten.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, runBinary, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { useHttpServer } from '../support/httpServer.js'
import { processTree } from '../support/processes.js'
import { IS_LONG, scaled } from '../support/scale.js'
import { until } from '../support/until.js'

const database = useDatabase()
const KINDS = ['python', 'shell', 'http', 'postgres']
const COMMANDS = scaled(80, 10_000)
/** Of each kind in one execution. */
const ITEMS = scaled(10, 250)
const PER_EXECUTION = ITEMS * KINDS.length
/** Sockets that were opened meanwhile and are kept for later: bounded, so that this does not grow with the commands. */
const FILES_MORE = 12
const MEMORY_MORE = 1.15
const COLLECT_SECONDS = 3
const TIMEOUT_MS = scaled(240_000, 1_800_000)
const PRELOAD = new URL('../../lab/preload/orders.mjs', import.meta.url).href
/** The one that forks, and two processes for each call that is forked ahead. */
const INTERPRETERS_MAX = 7

const server = useHttpServer(({ url }, response) => {
  response.writeHead(url === '/bad' ? 500 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ text: 'x'.repeat(2_000) }))
})
let daemon: Daemon
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-leaks-'))
  const worker = { NOETL_CP_WORKER_ALLOW: 'python,shell', NOETL_CP_WORKER_SLOTS: '8' }
  const collecting = { CHAOS_COLLECT: String(COLLECT_SECONDS), CHAOS_MEMORY: folder }
  daemon = await startDaemon([], { env: { ...env(), ...worker, ...collecting }, preload: IS_LONG ? [PRELOAD] : [] })
  await writeFile(join(folder, 'many.yaml'), PLAYBOOK)
})
afterAll(async () => {
  await daemon?.stop()
  await rm(folder, { recursive: true, force: true })
})

const env = (): Record<string, string> => ({
  NOETL_DATABASE_URL: database.get().url,
  NOETL_API_TOKEN: 'a-token-of-the-test',
})

/** What fails is handled, so that the next one comes. */
const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: many, path: leaks/many}
workload: {items: 1, url: '', database: {}}
workflow:
- {step: start, tool: {kind: noop}, next: [${KINDS.join(', ')}]}
${[
  [
    'python',
    `code: "import subprocess, sys\\nif n % 3 == 0:\\n    raise ValueError('x' * 5000)\\nif n % 3 == 1:\\n    subprocess.Popen(['sleep', '600'])\\nresult = {'text': 'y' * 5000}", input: {n: "{{ n }}"}`,
  ],
  ['shell', `command: "sleep 600 & test $(({{ n }} % 3)) -ne 0"`],
  ['http', `url: "{{ workload.url }}{{ '/bad' if n % 3 == 0 else '/good' }}"`],
  [
    'postgres',
    `connection: "{{ workload.database }}", query: "select 1 / ({{ n }} % 3) as n, repeat('z', 2000) as text"`,
  ],
]
  .map(
    ([kind, config]) => `- step: ${kind}
  loop: {in: "{{ workload.items }}", iterator: n, spec: {mode: parallel}}
  tool: {kind: ${kind}, ${config}, spec: {policy: {rules: [{else: {do: continue}}]}}}
  next: [end]`,
  )
  .join('\n')}
- {step: end, tool: {kind: noop, result: {${KINDS.map((kind) => `${kind}: "{{ ${kind}.stats.success }}"`).join(', ')}}}}
`

async function runMany(executions: number): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(database.get().url)
  const connection = { host: hostname, port: Number(port), user: username, password, database: pathname.slice(1) }
  const payload = JSON.stringify({ items: ITEMS, url: server.url(''), database: connection })
  for (let done = 0; done < executions; done++) {
    const args = [
      'run',
      join(folder, 'many.yaml'),
      '--port',
      new URL(daemon.url).port,
      '--payload',
      payload,
      '--result',
    ]
    const { code, stdout, stderr } = await runBinary(args, { env: env(), timeoutMs: 240_000 })
    expect([code, stderr]).toEqual([0, expect.stringContaining('COMPLETED')])
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, ITEMS])))
  }
}

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Below the daemon there is its warm interpreter, with a few calls forked ahead, and nothing else. */
async function nothingRuns(): Promise<void> {
  await until('no process of a command is left', () => {
    const below = processTree(daemon.pid).slice(1).map(commandLine)
    const interpreters = below.filter((line) => line.includes('fork_server.py'))
    return interpreters.length <= INTERPRETERS_MAX && interpreters.length === below.length
  })
}

const filesOpen = (): number => readdirSync(`/proc/${daemon.pid}/fd`).length

/** What is alive in all threads after a collection: V8 lets a heap grow for minutes before it looks. */
async function aliveMb(): Promise<number> {
  const reports = readdirSync(folder).filter((name) => name.startsWith(`${daemon.pid}-`))
  const asked = Date.now()
  await until('every thread has collected', () =>
    reports.every((name) => statSync(join(folder, name)).mtimeMs > asked + COLLECT_SECONDS * 1_000),
  )
  return reports.reduce((sum, name) => sum + Number(readFileSync(join(folder, name), 'utf8')), 0) / 2 ** 20
}

it(
  `leaves nothing behind after ${COMMANDS} commands`,
  async () => {
    // Interpreter, pools, threads and heap are there from now on.
    await runMany(Math.ceil((COMMANDS * 0.2) / PER_EXECUTION))
    await nothingRuns()
    const before = { files: filesOpen(), alive: IS_LONG ? await aliveMb() : 0 }
    await runMany(Math.ceil(COMMANDS / PER_EXECUTION))
    await nothingRuns()
    await until(`at most ${before.files + FILES_MORE} files are open`, () => filesOpen() <= before.files + FILES_MORE)
    if (!IS_LONG) return
    const alive = await aliveMb()
    console.info(`files ${before.files} → ${filesOpen()}, alive ${before.alive.toFixed(1)} → ${alive.toFixed(1)} MB`)
    expect(alive).toBeLessThan(before.alive * MEMORY_MORE)
  },
  TIMEOUT_MS,
)
