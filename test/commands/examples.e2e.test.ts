// Promise: the example workers in examples/ are whole: each takes the commands of its kind and brings a playbook to its end.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
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

it.each([
  ['worker.py', '{kind: python, code: "result = {\'sum\': 2 + 3}"}', { sum: 5 }],
  ['worker.ts', '{kind: http, url: "LIVEZ"}', { status_code: 200 }],
])('%s brings a playbook to its end', async (name, tool, data) => {
  expect((await readFile(join(root, 'examples', name), 'utf8')).split('\n').length).toBeLessThan(100)
  const pool = name.replace('.', '-')
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: examples/${pool}}\nworkflow:\n- step: a\n  tool: ${tool.replace('LIVEZ', new URL('/livez', daemon.url).href)}\n`
  expect((await post(daemon.url, '/api/catalog/register', { content })).status).toBe(200)
  const started = await post(daemon.url, '/api/execute', { path: `examples/${pool}`, execution_pool: pool })
  const executionId = /"execution_id":"?(\d+)/.exec(started.text)![1]!
  const [program, file] = name.endsWith('.py')
    ? ['python3', join(root, 'examples', name)]
    : [process.execPath, await javaScriptOf(name)]
  worker = spawn(program!, [file!], {
    env: { PATH: process.env['PATH'], NOETL_URL: daemon.url.replace(/\/$/, ''), POOL: pool },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
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
  worker.kill('SIGKILL')
})
