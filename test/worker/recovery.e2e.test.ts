// Promise: a worker that is killed in the middle of a query, a request over NATS, a transfer or a wait for a child loses nothing: the
// next one does each once more. Playbooks that wait for playbooks finish, however few slots there are. A failure is told to
// an address over real HTTP.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BINARY, type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { scaled } from '../support/scale.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'

const database = useDatabase()
const POOL = 'killed'
let stream: TestStream
let daemon: Daemon
let folder: string
let server: Server
let url: string
/** Requests that wait for an answer, by path; none does once `isOpen`. */
const held = new Map<string, ServerResponse>()
let isOpen = false
let told: { headers: IncomingHttpHeaders; body: any } | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-recovery-'))
  server = createServer((request, response) => {
    if (request.url === '/told') {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        told = { headers: request.headers, body: JSON.parse(body) }
        response.end()
      })
    } else if (isOpen || request.url === '/rows') answer(response)
    else held.set(request.url!, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  stream = await useStream(database.servers())
  await database.get().sql('create table public.pace (seconds int)')
  await database.get().sql('insert into public.pace values (3600)')
  await database.get().sql('create table public.copied (id int primary key)')
  daemon = await startDaemon([], { env: env({ NOETL_CP_WORKER_SLOTS: '4' }) })
})
afterAll(async () => {
  await daemon?.stop()
  server.closeAllConnections()
  server.close()
  await stream?.close()
  await rm(folder, { recursive: true, force: true })
})

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }] }))
}

function env(more: Record<string, string> = {}): Record<string, string> {
  const { natsUrl, natsToken } = database.servers()
  return {
    NOETL_DATABASE_URL: database.get().url,
    NOETL_API_TOKEN: 'a-token-of-the-test',
    NOETL_CP_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    NOETL_CRED_HERE_URL: database.get().url,
    NOETL_CRED_BROKER_NATS_URL: natsUrl,
    NOETL_CRED_BROKER_NATS_TOKEN: natsToken,
    ...more,
  }
}

async function write(name: string, metadata: string, workflow: string): Promise<string> {
  const file = join(folder, `${name}.yaml`)
  const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: ${name}, path: recovery/${name}${metadata}}\n`
  await writeFile(file, `${head}workflow:\n${workflow}`)
  return file
}

const cp = (...args: string[]) => builtCli([...args, '--port', new URL(daemon.url).port], { env: env() })
const run = (file: string, ...args: string[]) => cp('run', file, '--set', `url=${url}`, ...args)

async function register(file: string): Promise<void> {
  const { code, stderr } = await cp('catalog', 'register', file)
  expect(code, stderr).toBe(0)
}

function startWorker() {
  const child = spawn(process.execPath, [BINARY, 'worker', '--worker-pools', POOL], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env() },
    stdio: 'ignore',
  })
  return { child, ended: new Promise<number | null>((resolve) => child.on('close', resolve)) }
}

it('a worker that is killed: every command is done once more by the next', async () => {
  await register(
    await write('child', '', '  - step: ask\n    tool: {kind: http, url: "{{ workload.url }}/child", timeout: 600}\n'),
  )
  let asked = 0
  const questions = stream.connection.subscribe(`${stream.prefix}.ask`, {
    callback: (_, message) => {
      asked += 1
      if (isOpen) message.respond('{"yes": true}')
    },
  })
  const file = await write(
    'kinds',
    '',
    `  - step: start
    tool: {kind: noop}
    next: [query, ask, copy, child]
  - step: query
    tool: {kind: postgres, auth: here, query: "select pg_sleep(seconds) from public.pace", timeout: 600}
  - step: ask
    tool: {kind: nats, auth: broker, operation: request, subject: ${stream.prefix}.ask, payload: {}, timeout: 600}
  - step: copy
    tool:
      kind: transfer
      source: {kind: http, url: "{{ workload.url }}/copy", data_path: rows}
      target: {kind: postgres, auth: here, table: copied}
      timeout: 600
  - step: child
    tool: {kind: playbook, path: recovery/child, payload: {url: "{{ workload.url }}"}, return_result: true}
`,
  )
  const first = startWorker()
  const { stdout, stderr } = await run(file, '--detach', '--pool', POOL)
  const id = stdout.trim()
  expect(id, stderr).toMatch(/^\d+$/)
  const sleeping = () =>
    database
      .get()
      .sql(`select pid from pg_stat_activity where query like 'select pg_sleep(seconds)%' and state = 'active'`)
  await until(
    'all four are under way',
    async () => asked > 0 && held.has('/copy') && held.has('/child') && (await sleeping()).length > 0,
    { timeoutMs: 120_000 },
  )
  first.child.kill('SIGKILL')
  await first.ended
  isOpen = true
  await database.get().sql('update public.pace set seconds = 0')
  for (const response of held.values()) answer(response)
  const second = startWorker()
  await until(
    'the second worker has ended them',
    async () => {
      const [row] = await database.get().sql('select status from noetl.execution where execution_id = $1::bigint', [id])
      return row!['status'] === 'COMPLETED'
    },
    { timeoutMs: 240_000 },
  )
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  questions.unsubscribe()
  const ended = await database
    .get()
    .sql(
      `select count(*)::int as n from noetl.event where execution_id = $1::bigint and event_type = 'command.completed'`,
      [id],
    )
  expect(ended).toEqual([{ n: 5 }])
  expect(await database.get().sql('select count(*)::int as n from public.copied')).toEqual([{ n: 3 }])
  const children = await database
    .get()
    .sql('select status from noetl.execution where parent_execution_id = $1::bigint', [id])
  expect(children).toEqual([{ status: 'COMPLETED' }])
}, 600_000)

it('playbooks that wait for playbooks finish though they are many and the slots four: who waits holds none', async () => {
  const many = scaled(12, 200)
  await register(await write('rows', '', '  - step: ask\n    tool: {kind: http, url: "{{ workload.url }}/rows"}\n'))
  const file = await write(
    'parents',
    '',
    `  - step: each
    loop: {in: "{{ range(${many}) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: ${many}}}
    tool:
      - {name: ask, kind: playbook, path: recovery/rows, payload: {url: "{{ workload.url }}"}, return_result: true}
      - {name: sum, kind: noop, result: {rows: "{{ ask.data.rows | length }}"}}
    next: [end]
  - step: end
    tool: {kind: noop, result: "{{ each.results | map(attribute='sum.rows') | list }}"}
`,
  )
  const { code, stdout, stderr } = await run(file, '--result')
  expect([code, stderr]).toEqual([0, expect.stringContaining('COMPLETED')])
  expect(JSON.parse(stdout)).toEqual(Array.from({ length: many }, () => 3))
}, 600_000)

it('a failure is told to the address of on_failure, once it listens, with what failed', async () => {
  const broken = '  - step: broken\n    tool: {kind: postgres, auth: here, query: "select 1/0"}\n'
  const file = await write('fails', `, on_failure: {webhook: "${url}/told", headers: {X-Team: night}}`, broken)
  const { code, stdout } = await run(file, '--json')
  expect(code).toBe(1)
  const { execution_id: id } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
  const { headers, body } = await until('the address is told', () => told, { timeoutMs: 60_000 })
  expect(headers).toMatchObject({
    'x-team': 'night',
    'idempotency-key': `on-failure-${id}`,
    'content-type': 'application/json',
  })
  expect(body).toMatchObject({
    execution_id: id,
    path: 'recovery/fails',
    status: 'FAILED',
    error: expect.stringContaining('zero'),
  })
})
