// Promise: the example workers in examples/ are whole: each takes the commands of its kind and brings a playbook to its end, also
// when the daemon is killed and comes back while a step runs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { until } from '../support/until.js'
import { post } from './foreignWorker.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const database = useDatabase()
let daemon: Daemon
let folder: string
let worker: ChildProcess | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-example-'))
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
})
afterAll(async () => {
  worker?.kill('SIGKILL')
  await daemon?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function javaScriptOf(name: string): Promise<string> {
  const options = [
    '--outDir',
    folder,
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--skipLibCheck',
  ]
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [
    join(root, 'examples', name),
    '--ignoreConfig',
    ...options,
  ])
  return join(folder, name.replace('.ts', '.js'))
}

/** Its program, and what it prints. */
async function startWorker(name: string, url: string, pool: string): Promise<{ output(): string }> {
  const [program, file] = name.endsWith('.py')
    ? ['python3', join(root, 'examples', name)]
    : [process.execPath, await javaScriptOf(name)]
  worker = spawn(program!, [file!], {
    env: { PATH: process.env['PATH'], NOETL_URL: url.replace(/\/$/, ''), POOL: pool },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [worker.stdout!, worker.stderr!]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  return { output: () => output }
}

async function start(url: string, pool: string, tool: string): Promise<string> {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: examples/${pool}}\nworkflow:\n- step: a\n  tool: ${tool}\n`
  expect((await post(url, '/api/catalog/register', { content })).status).toBe(200)
  const started = await post(url, '/api/execute', { path: `examples/${pool}`, execution_pool: pool })
  return /"execution_id":"?(\d+)/.exec(started.text)![1]!
}

it.each([
  ['worker.py', '{kind: python, code: "result = {\'sum\': 2 + 3}"}', { sum: 5 }],
  ['worker.ts', '{kind: http, url: "LIVEZ"}', { status_code: 200 }],
])('%s brings a playbook to its end', async (name, tool, data) => {
  expect((await readFile(join(root, 'examples', name), 'utf8')).split('\n').length).toBeLessThan(100)
  const pool = name.replace('.', '-')
  const executionId = await start(daemon.url, pool, tool.replace('LIVEZ', new URL('/livez', daemon.url).href))
  await startWorker(name, daemon.url, pool)
  await until('it has ended', async () => {
    const { body } = await daemon.get(`/api/executions/${executionId}/status`)
    return body.status === 'COMPLETED'
  })
  const [end] = await database
    .get()
    .sql<{ data: unknown }>(
      `select result #> '{context,data}' as data from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
      [executionId],
    )
  expect(end?.data).toMatchObject(data)
  worker!.kill('SIGKILL')
})

describe('while a step runs', () => {
  let gate: Server
  let isOpen = false
  let dataFolder: string
  let mortal: Daemon | undefined

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'noetl-cp-examples-data-'))
    const answer = (response: ServerResponse): void => {
      if (isOpen) response.end('open')
      else setTimeout(() => answer(response), 50)
    }
    gate = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
    await once(gate, 'listening')
  })
  afterAll(async () => {
    await mortal?.stop()
    gate.close()
    gate.closeAllConnections()
    await rm(dataFolder, { recursive: true, force: true })
  })

  it.each([
    ['worker.py', (url: string) => `{kind: python, code: "import urllib.request\\nurllib.request.urlopen('${url}')"}`],
    ['worker.ts', (url: string) => `{kind: http, url: "${url}"}`],
  ])('%s goes on without a daemon that is killed, and its answer arrives when it is back', async (name, toolOf) => {
    isOpen = false
    const port = String(await freePort())
    // Its own worker would take the command.
    const serve = () => startDaemon(['--data-dir', dataFolder, '--port', port], { env: { NOETL_CP_WORKER: 'false' } })
    mortal = await serve()
    const pool = `mortal-${name.replace('.', '-')}`
    const { port: gatePort } = gate.address() as AddressInfo
    const executionId = await start(mortal.url, pool, toolOf(`http://127.0.0.1:${gatePort}/`))
    const { output } = await startWorker(name, mortal.url, pool)
    const command = async () => (await mortal!.get(`/api/commands?execution_id=${executionId}`)).body.items[0]
    await until('it is claimed', async () => (await command())?.status === 'CLAIMED')
    await mortal.stop('SIGKILL')
    await until('its sign of life finds nobody', () => output().includes('heartbeat failed'))
    isOpen = true
    await until('its answer finds nobody', () => output().includes('answer failed'))
    mortal = await serve()
    await until('it has ended', async () => {
      const { body } = await mortal!.get(`/api/executions/${executionId}/status`)
      return body.status === 'COMPLETED'
    })
    expect(await command()).toMatchObject({ status: 'COMPLETED', attempt: 1 })
    await until('the worker knows', () => /success/.test(output()))
    worker!.kill('SIGKILL')
    await mortal.stop()
  })

  it('worker.ts stops, and answers nothing, when its execution is cancelled', async () => {
    isOpen = false
    const { port } = gate.address() as AddressInfo
    const executionId = await start(daemon.url, 'unwanted', `{kind: http, url: "http://127.0.0.1:${port}/"}`)
    const { output } = await startWorker('worker.ts', daemon.url, 'unwanted')
    const command = async () => (await daemon.get(`/api/commands?execution_id=${executionId}`)).body.items[0]
    await until('it is claimed', async () => (await command())?.status === 'CLAIMED')
    await post(daemon.url, `/api/executions/${executionId}/cancel`, {})
    await until('the worker knows', () => output().includes('unwanted'))
    worker!.kill('SIGKILL')
  })
})
