// Promise: secrets are shown nowhere: in no answer of any GET route, no output of any command that looks, no line of the
// log and no message, whether they came through the API, from the projector, or were written into the database by others.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'

const SECRET = 'hunter2-planted'
const TOKEN = 'internal-token-of-the-test'
const FOREIGN = '5555'
let database: TestDatabase
let stream: TestStream
let daemon: Daemon
let env: Record<string, string>
let executionId: string

const secrets = {
  db_password: SECRET,
  github_token: { value: SECRET },
  PGPASSWORD: SECRET,
  url: `postgres://u:${SECRET}@host/db`,
  call: `https://host/x?access_token=${SECRET}&page=2`,
  said: `it failed: password=${SECRET}`,
  list: [{ 'X-Api-Key': SECRET }],
}

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  stream = await useStream(servers)
  env = {
    ...stream.env,
    NOETL_DATABASE_URL: database.url,
    NOETL_INTERNAL_API_TOKEN: TOKEN,
    NOETL_CP_LOG_LEVEL: 'debug',
  }
  daemon = await startDaemon([], { env })
  await post('/api/catalog/register', { content: playbook('tests/shown') })
  executionId = (await post('/api/execute', { path: 'tests/shown', payload: secrets, driven: false })).body.execution_id
})
afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
  await database?.drop()
})

async function post(path: string, body: unknown) {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  expect(text).not.toContain(SECRET)
  return { status: response.status, body: JSON.parse(text) as Record<string, any> }
}

/** The answer; of one that goes on for ever what has come within a moment. */
async function read(path: string): Promise<string> {
  const response = await fetch(new URL(path, daemon.url), { headers: { authorization: `Bearer ${TOKEN}` } })
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text()
  const reader = response.body!.getReader()
  const moment = setTimeout(() => void reader.cancel(), 1_000)
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += Buffer.from(part.value).toString()
  clearTimeout(moment)
  return text
}

it('whichever way they came', async () => {
  const event = { step: 's', event_type: 'command.failed', status: 'FAILED', meta: { ...secrets, command_id: 'c' } }
  const said = `see ${secrets.url}: ${secrets.said}`
  const own = { ...event, payload: { ...secrets, error: said }, error: said, stack_trace: said }
  for (const [path, body] of [
    ['/api/events', { execution_id: executionId, ...own }],
    ['/api/events/batch', { execution_id: executionId, events: [own] }],
    ['/api/events', { execution_id: executionId, ...own, payload: { ...own.payload, filler: 'x'.repeat(100_000) } }],
    ['/api/events', { execution_id: executionId, step: 's', event_type: secrets.url, payload: {} }],
    ['/api/events', { execution_id: executionId, step: 's', event_type: secrets.url, payload: 'x'.repeat(100_000) }],
    // Refusals repeat what they were given.
    ['/api/execute', { path: secrets.url }],
    ['/api/catalog/register', { content: `kind: ${secrets.url}\npassword: ${SECRET}` }],
    ['/api/subscriptions', { path: secrets.call }],
    [`/api/executions/${executionId}/cancel`, { reason: said }],
  ] as const) {
    await post(path, body)
  }
  const { execution_id: other } = (await post('/api/execute', { path: 'tests/shown', driven: false })).body
  await post(`/api/executions/${other}/finalize`, { status: 'FAILED', error: said })
  const projected = { execution_id: '4444', node_name: 'n', ...own, context: secrets, result: secrets }
  await post('/api/internal/events/project', {
    events: [
      { ...projected, event_id: '44440', event_type: 'playbook_started' },
      { ...projected, event_id: '44441' },
      { ...projected, event_id: 'none', note: secrets },
    ],
  })
  // As others write: whole.
  const json = JSON.stringify({ ...secrets, error: said })
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, context, result, meta, error, stack_trace)
     select ${FOREIGN}, n, 7, type, 'n', 'FAILED', $1::text::jsonb, $1::text::jsonb, $1::text::jsonb, $2, $2
     from (values (1, 'playbook_started'), (2, 'command.failed'), (3, 'playbook.failed')) as given (n, type)`,
    [json, said],
  )
  await until('it is known', async () => (await daemon.get(`/api/executions/${FOREIGN}/status`)).status === 200)

  const ids = [executionId, other, '4444', FOREIGN]
  const document = (await daemon.get('/openapi.json')).body as { paths: Record<string, Record<string, unknown>> }
  const routes = Object.entries(document.paths).flatMap(([path, methods]) => ('get' in methods ? [path] : []))
  expect(routes.length).toBeGreaterThan(15)
  for (const route of routes) {
    for (const id of ids) {
      const path = route.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'event_id' ? '2' : id))
      expect(await read(path), path).not.toContain(SECRET)
      if (!route.includes('{')) break
    }
  }
  expect((await daemon.get(`/nowhere?access_token=${SECRET}`)).text).not.toContain(SECRET)

  await until('everything is published', async () => {
    const [row] = await database.sql<{ n: number }>(
      `select count(*)::int as n from noetl.outbox where status <> 'PUBLISHED'`,
    )
    return row!.n === 0
  })
  for (const message of await stream.messages()) {
    expect(message.body, message.subject).not.toContain(SECRET)
    expect(JSON.stringify(message.headers)).not.toContain(SECRET)
  }

  const rows = await database.sql<{ outbox_id: string }>('select outbox_id from noetl.outbox limit 1')
  for (const id of [executionId, FOREIGN]) {
    for (const args of [
      ['execution', 'show', id],
      ['events', 'tail', id],
      ['replay', id],
      ['replay', 'step', id],
      ['state', 'show', id],
      ['state', 'why-stuck', id],
    ]) {
      const { code, stdout, stderr } = await builtCli(args, { env })
      expect([0, 5], `${args.join(' ')}: ${stderr}`).toContain(code)
      expect(stdout + stderr, args.join(' ')).not.toContain(SECRET)
    }
  }
  for (const args of [
    ['execution', 'list', '--json'],
    ['outbox', 'show', String(rows[0]!.outbox_id)],
    ['projector', 'quarantine', 'list', '--json'],
    ['config', 'show'],
    ['status'],
    ['doctor'],
  ]) {
    const { code, stdout, stderr } = await builtCli(args, { env: { ...env, NOETL_API_TOKEN: SECRET } })
    expect(code, `${args.join(' ')}: ${stderr}`).not.toBe(2)
    expect(stdout + stderr, args.join(' ')).not.toContain(SECRET)
  }
  expect(daemon.stdout() + daemon.stderr()).not.toContain(SECRET)
})
