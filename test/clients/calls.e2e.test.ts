// Promise: every call that workers, gateways and the command lines of the originals make is answered in their words. The
// calls are made once, in this order, as they would make them; then there is one row per field.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Answer, type Call, call } from './client.js'
import { expectField, type Kind, type Shape, valueAt } from './shapes.js'

const INTERNAL = 'internal-token-of-the-calls'
const API = 'api-token-of-the-calls'
const internal = { authorization: `Bearer ${INTERNAL}` }
const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: calls, path: tests/calls}
workload: {city: Paris, api_key: secret-of-the-workload}
workflow:
  - step: start
    tool: {kind: python, code: "result = 1"}
`
const LISTENER = `apiVersion: noetl.io/v2
kind: Subscription
metadata: {name: hook, path: tests/hook}
spec:
  source: webhook
  mode: push
  ingress: {gateway_path: /hooks/orders, verify: {type: bearer, secret: orders}}
  dispatch: {playbook: tests/calls}
`

interface Made extends Call, Shape {
  /** Values of the answer for later calls: `{name}` in their lines. */
  keep?: Record<string, string>
  /** Until then it is called again. */
  until?: string
}

const POOL: Record<string, Kind> = {
  runtime_id: 'id number',
  name: { oneOf: ['pool-a'] },
  kind: { oneOf: ['worker_pool'] },
  uri: { orNull: 'text' },
  status: { oneOf: ['ready'] },
  labels: 'object',
  capabilities: 'list',
  capacity: { oneOf: [2] },
  runtime: 'object',
  heartbeat: 'time',
  created_at: 'time',
  updated_at: 'time',
}
const COMMAND: Record<string, Kind> = {
  execution_id: 'id number',
  node_id: { oneOf: ['start'] },
  node_name: { oneOf: ['start'] },
  action: { oneOf: ['python'] },
  context: 'object',
  meta: 'object',
}
const CREDENTIAL: Record<string, Kind> = {
  id: 'id text',
  name: { oneOf: ['pg_test'] },
  type: { oneOf: ['postgres'] },
  meta: { orNull: 'object' },
  tags: 'list',
  description: { oneOf: ['for tests'] },
  created_at: 'time',
  updated_at: 'time',
  data: { oneOf: [null] },
}
const SUBSCRIPTION: Record<string, Kind> = {
  subscription_id: 'id text',
  path: { oneOf: ['tests/hook'] },
  catalog_id: 'id text',
  state: 'text',
  last_event_type: 'text',
  updated_at: 'time',
}
const SAID: Record<string, Kind> = { status: { oneOf: ['ok'] }, message: 'text' }
const pool = { name: 'pool-a' }
const credential = { name: 'pg_test', type: 'postgres', data: { db_host: 'db' }, description: 'for tests', tags: ['t'] }

const MADE: readonly Made[] = [
  {
    call: 'POST /api/catalog/register',
    body: { content: PLAYBOOK, resource_type: 'Playbook' },
    fields: {
      status: { oneOf: ['success'] },
      message: 'text',
      path: { oneOf: ['tests/calls'] },
      version: { oneOf: [1] },
      catalog_id: 'id text',
      kind: { oneOf: ['playbook'] },
    },
  },
  {
    call: 'POST /api/catalog/register?of=listener',
    body: { content: LISTENER, resource_type: 'Subscription' },
    fields: { kind: { oneOf: ['subscription'] } },
  },
  {
    call: 'POST /api/catalog/list',
    body: { resource_type: 'Playbook' },
    at: 'entries/0',
    fields: { path: { oneOf: ['tests/calls'] }, version: { oneOf: [1] }, kind: 'text', content: 'text' },
  },
  {
    call: 'POST /api/catalog/resource',
    body: { path: 'tests/calls', version: 'latest' },
    fields: { catalog_id: 'id text', path: 'text', version: { oneOf: [1] }, content: { oneOf: [PLAYBOOK] } },
  },
  {
    call: 'POST /api/worker/pool/register',
    body: {
      ...{ ...pool, component_type: 'worker_pool', status: 'ready', hostname: 'h', capacity: 2 },
      ...{ runtime: { type: 'rust' }, labels: { pool_name: 'default' }, capabilities: ['python'] },
    },
    fields: POOL,
  },
  { call: 'POST /api/worker/pool/heartbeat', body: pool, fields: SAID },
  { call: 'GET /api/worker/pools?kind=worker_pool', at: 'items/0', fields: { ...POOL, alive: { oneOf: [true] } } },
  {
    call: 'POST /api/execute',
    body: { path: 'tests/calls', version: '1' },
    keep: { id: 'execution_id' },
    fields: { execution_id: 'id text', status: { oneOf: ['started'] }, commands_generated: 'integer' },
  },
  {
    call: 'GET /api/commands?execution_id={id}&status=PENDING',
    until: 'items/0',
    keep: { command: 'items/0/event_id', key: 'items/0/command_id' },
    at: 'items/0',
    fields: { event_id: 'id number', execution_id: 'id number', status: { oneOf: ['PENDING'] }, pool: 'text' },
  },
  { call: 'GET /api/commands/{command}', fields: COMMAND },
  {
    call: 'POST /api/commands/{command}/claim',
    body: { worker_id: 'w1' },
    fields: { status: { oneOf: ['ok'] }, event_id: 'id number', ...COMMAND },
  },
  {
    call: 'POST /api/commands/{command}/claim?again',
    body: { worker_id: 'w1' },
    at: 'meta',
    fields: { command_id: 'text', attempt: { oneOf: [1] }, lease_token: 'integer', lease_until: 'time' },
  },
  {
    call: 'POST /api/commands/{command}/heartbeat',
    body: { worker_id: 'w1' },
    fields: { lease_until: 'time', cancelled: { oneOf: [false] } },
  },
  {
    call: 'POST /api/commands/claim',
    body: { worker_id: 'w2', pools: ['default'], max: 1 },
    fields: { commands: 'list' },
  },
  {
    call: 'PUT /api/result/{id}',
    body: { name: 'rows', data: [1, 2], source_step: 'start' },
    keep: { ref: 'ref' },
    fields: {
      ref: 'text',
      store: { oneOf: ['db'] },
      scope: 'text',
      bytes: 'integer',
      sha256: 'text',
      expires_at: 'anything',
    },
  },
  { call: 'GET /api/result/resolve?ref={ref}', fields: { 0: { oneOf: [1] }, 1: { oneOf: [2] } } },
  {
    call: 'POST /api/vars/{id}',
    body: { city: 'Rome' },
    fields: { status: { oneOf: ['ok'] }, execution_id: 'id text', count: { oneOf: [1] } },
  },
  {
    call: 'POST /api/vars/{id}?list',
    body: { variables: [{ var_name: 'days', var_value: 3, var_type: 'user_defined', source_step: 'start' }] },
    fields: { count: { oneOf: [1] } },
  },
  { call: 'GET /api/vars/{id}', fields: { city: { oneOf: ['Rome'] }, days: { oneOf: [3] } } },
  { call: 'GET /api/vars/{id}/city', fields: { name: { oneOf: ['city'] }, value: { oneOf: ['Rome'] } } },
  { call: 'DELETE /api/vars/{id}/city', fields: { status: { oneOf: ['ok'] }, name: { oneOf: ['city'] } } },
  {
    call: 'POST /api/events/batch',
    body: {
      execution_id: '{id}',
      events: [
        {
          event_type: 'call.done',
          step: 'start',
          payload: { command_id: '{key}', result: { status: 'success', data: 1 } },
        },
        { event_type: 'command.completed', step: 'start', payload: { command_id: '{key}', worker_id: 'w1' } },
      ],
    },
    fields: { status: { oneOf: ['ok', 'accepted'] }, event_ids: 'list' },
  },
  {
    call: 'POST /api/executions/{id}/rerun',
    body: { workload: { city: 'Oslo' } },
    keep: { again: 'execution_id' },
    fields: { execution_id: 'id text', status: { oneOf: ['started'] }, commands_generated: 'integer' },
  },
  { call: 'GET /api/executions/{again}', at: 'workload', fields: { city: { oneOf: ['Oslo'] }, api_key: 'text' } },
  { call: 'POST /api/credentials', body: credential, headers: internal, fields: CREDENTIAL },
  { call: 'GET /api/credentials', fields: { items: 'list', filter: 'object' } },
  { call: 'GET /api/credentials?type=postgres', at: 'items/0', fields: CREDENTIAL },
  {
    call: 'GET /api/credentials/pg_test?include_data=true&execution_id={id}',
    headers: internal,
    at: 'data',
    fields: { db_host: { oneOf: ['db'] } },
  },
  {
    call: 'POST /api/subscriptions/register',
    body: { path: 'tests/hook' },
    keep: { subscription: 'subscription_id' },
    fields: { ...SUBSCRIPTION, state: { oneOf: ['REGISTERED'] } },
  },
  {
    call: 'POST /api/subscriptions/{subscription}/activate',
    body: {},
    fields: { ...SUBSCRIPTION, state: { oneOf: ['ACTIVE'] } },
  },
  { call: 'GET /api/subscriptions/{subscription}', fields: SUBSCRIPTION },
  { call: 'GET /api/subscriptions', at: 'subscriptions/0', fields: SUBSCRIPTION },
  {
    call: 'GET /api/internal/ingress/orders',
    headers: internal,
    fields: {
      listener: { oneOf: ['orders'] },
      catalog_path: { oneOf: ['tests/hook'] },
      source: { oneOf: ['webhook'] },
      subscription_id: 'id text',
      verify: 'object',
      dispatch: 'object',
      directives: 'anything',
    },
  },
  {
    call: 'GET /api/runtime/shard-info?execution_id={id}&shard_count=4',
    fields: {
      execution_id: 'id number',
      shard_count: { oneOf: [4] },
      shard_index: 'integer',
      source: 'text',
      hash_function: 'text',
      seed: { oneOf: [0] },
      server_config: 'object',
    },
  },
  { call: 'POST /api/internal/outbox/claim', body: { limit: 10 }, headers: internal, fields: { rows: 'list' } },
  { call: 'GET /api/internal/outbox/pending-count', headers: internal, fields: { pending: 'integer' } },
  { call: 'GET /api/replay/state?execution_id={id}&projection=all', fields: { execution_id: 'anything' } },
  { call: 'GET /api/health', fields: { status: { oneOf: ['ok'] } } },
  { call: 'GET /health', fields: { status: { oneOf: ['ok'] } } },
  { call: 'POST /api/worker/pool/deregister', body: pool, fields: SAID },
  { call: 'DELETE /api/worker/pool/deregister', body: pool, fields: SAID },
  {
    call: 'DELETE /api/credentials/pg_test',
    headers: internal,
    fields: { status: { oneOf: ['deleted'] }, name: 'text' },
  },
]

let database: TestDatabase
let daemon: Daemon
const answers = new Map<string, Answer>()
const kept: Record<string, string> = {}
const filled = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => kept[name] ?? whole)
const send = (line: string, given: Call = {}) =>
  call(daemon.url, filled(line), { ...given, headers: given.headers ?? { authorization: `Bearer ${API}` } })

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NOETL_INTERNAL_API_TOKEN: INTERNAL,
      // Where credentials are stored, a token is needed to change anything.
      NOETL_API_TOKEN: API,
      NOETL_CP_WORKER: 'false',
      NOETL_CP_CREDENTIALS_KEY: Buffer.alloc(32, 1).toString('base64'),
      NOETL_CP_SECRET_KEY: Buffer.alloc(32, 2).toString('base64'),
      NOETL_SECRET_ORDERS: 'what the sender says',
    },
  })
  for (const made of MADE) {
    const body = made.body === undefined ? undefined : filled(JSON.stringify(made.body))
    const ask = () => send(made.call, { ...made, body })
    const answer = await (made.until === undefined
      ? ask()
      : until(made.call, async () => {
          const said = await ask()
          return valueAt(said.body, made.until) === undefined ? undefined : said
        }))
    answers.set(made.call, answer)
    for (const [name, at] of Object.entries(made.keep ?? {})) kept[name] = String(valueAt(answer.body, at))
  }
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

const rows = MADE.flatMap((made) =>
  Object.entries(made.fields).map(([field, kind]): [string, string, Made, Kind] => [made.call, field, made, kind]),
)
it.each(rows)('%s: %s', (_, field, made, kind) => expectField(answers.get(made.call)!, made, field, kind))

it('a command that another holds is refused with a code', async () => {
  const fresh = (await send('POST /api/execute', { body: { path: 'tests/calls' } })).body.execution_id
  const { body } = await until('its command is there', async () => {
    const said = await send(`GET /api/commands?execution_id=${fresh}`)
    return said.body.items.length > 0 ? said : undefined
  })
  const line = `POST /api/commands/${body.items[0].event_id}/claim`
  expect((await send(line, { body: { worker_id: 'w1' } })).status).toBe(200)
  const other = await send(line, { body: { worker_id: 'w2' } })
  expect(other).toMatchObject({ status: 409, body: { detail: { code: 'active_claim', message: expect.any(String) } } })
  expect(Number(other.headers['retry-after'])).toBeGreaterThan(0)
  expect((await send(line, { body: {} })).status).toBe(422)
  expect((await send('POST /api/commands/1/claim', { body: { worker_id: 'w' } })).status).toBe(404)
})

it('values of credentials are for the internal token, and there is no sealed form of them', async () => {
  await send('POST /api/credentials', { body: { ...credential, name: 'kept' }, headers: internal })
  expect((await send('GET /api/credentials/kept?include_data=true')).status).toBe(403)
  expect((await send('GET /api/credentials?include_data=true')).status).toBe(403)
  expect((await send('GET /api/credentials/kept/sealed', { headers: internal })).status).toBe(404)
  const before = await metric('noetl_cp_credential_reads_total')
  expect((await send('GET /api/credentials/kept?include_data=true', { headers: internal })).status).toBe(200)
  expect(await metric('noetl_cp_credential_reads_total')).toBe(before + 1)
})

it('a rerun has the secrets of the first run, and nobody sees them', async () => {
  const { text } = answers.get('GET /api/executions/{again}')!
  expect(text).not.toContain('secret-of-the-workload')
  const sealed = await database.sql<{ n: number }>(
    `select count(*)::int as n from noetl.event where execution_id = any($1::bigint[]) and event_type = 'playbook_started' and sealed is not null`,
    [[kept['id']!, kept['again']!]],
  )
  expect(sealed).toEqual([{ n: 2 }])
  expect((await send('POST /api/executions/1/rerun', { body: {} })).status).toBe(404)
})

async function metric(name: string): Promise<number> {
  const { text } = await send('GET /metrics')
  const values = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
