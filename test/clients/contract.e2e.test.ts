// Promise: what the clients that people already have rely on, apart from the shapes of single answers: how failures,
// repetitions, versions, ids, web pages and errors look.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Call, call } from './client.js'

const PAGE = 'https://gui.example:8443'
const BROWSER = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const ID = /^\d{15,19}$/

let database: TestDatabase
let daemon: Daemon
let executionId: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.url, NOETL_CP_ADOPT_INTERVAL: '0.2', NOETL_CP_CORS_ORIGINS: PAGE },
  })
  await send('POST /api/catalog/register', { body: { content: playbook('tests/contract') } })
  await send('POST /api/catalog/register', { body: { content: playbook('tests/contract'), force: true } })
  executionId = await started({ path: 'tests/contract' })
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

const send = (line: string, given: Call = {}) => call(daemon.url, line, given)
const started = async (body: object): Promise<string> =>
  (await send('POST /api/execute', { body: { ...body, driven: false } })).body.execution_id
const count = async (id: string): Promise<number> =>
  (await database.sql<{ n: number }>('select count(*)::int as n from noetl.event where execution_id = $1', [id]))[0]!.n

it('a failed item of execute/batch has status error, the others are started', async () => {
  const answer = await send('POST /api/execute/batch', {
    body: { executions: [{ path: 'tests/contract', driven: false }, { path: 'tests/nowhere' }] },
  })
  expect(answer).toMatchObject({ status: 200, body: { count: 2, started: 1, failed: 1 } })
  expect(answer.body.results).toMatchObject([
    { index: 0, status: 'started', execution_id: expect.stringMatching(ID) },
    { index: 1, status: 'error', commands_generated: 0, error: expect.stringContaining('tests/nowhere') },
  ])
})

describe('Idempotency-Key', () => {
  const event = { event_type: 'step.enter', step: 's' }
  it.each(['Idempotency-Key', 'X-Idempotency-Key'])('%s: a repeated event is the first one', async (name) => {
    const before = await count(executionId)
    const given = { headers: { [name]: `one-${name}` }, body: { ...event, execution_id: executionId } }
    const first = await send('POST /api/events', given)
    expect(first.body).toMatchObject({ status: 'ok', duplicate: false, event_ids: [first.body.event_id] })
    const again = await send('POST /api/events', given)
    expect(again.body).toMatchObject({
      status: 'ok',
      duplicate: true,
      event_id: first.body.event_id,
      event_ids: first.body.event_ids,
    })
    expect(await count(executionId)).toBe(before + 1)
  })
  it('a repeated batch has the same event_ids, also when both come at once; another execution is another request', async () => {
    const before = await count(executionId)
    const given = (id: string) => ({
      headers: { 'Idempotency-Key': 'batch' },
      body: { execution_id: id, events: [event, { ...event, event_type: 'step.exit' }] },
    })
    const answers = await Promise.all([1, 2, 3, 4].map(() => send('POST /api/events/batch', given(executionId))))
    expect(answers.map(({ body }) => body.duplicate).sort()).toEqual([false, true, true, true])
    for (const { body } of answers) expect(body.event_ids).toEqual(answers[0]!.body.event_ids)
    expect(await count(executionId)).toBe(before + 2)
    const other = await send('POST /api/events/batch', given(await started({ path: 'tests/contract' })))
    expect(other.body).toMatchObject({ duplicate: false })
    expect(other.body.event_ids).not.toEqual(answers[0]!.body.event_ids)
  })
  it('a request that failed leaves its key free', async () => {
    const headers = { 'Idempotency-Key': 'late' }
    const id = '420000000000000001'
    expect((await send('POST /api/events', { headers, body: { ...event, execution_id: id } })).status).toBe(404)
    const born = { event_type: 'playbook_started', execution_id: id, path: 'tests/contract' }
    expect((await send('POST /api/events', { body: born })).status).toBe(200)
    expect((await send('POST /api/events', { headers, body: { ...event, execution_id: id } })).body).toMatchObject({
      status: 'ok',
      duplicate: false,
    })
  })
  it('a key that is too long is refused', async () => {
    const headers = { 'Idempotency-Key': 'k'.repeat(300) }
    expect((await send('POST /api/events', { headers, body: { ...event, execution_id: executionId } })).status).toBe(
      400,
    )
  })
})

describe('version in execute', () => {
  it.each([
    [1, 1],
    ['1', 1],
    ['2', 2],
    ['latest', 2],
    [undefined, 2],
  ])('%j starts version %i', async (version, expected) => {
    const id = await started({ path: 'tests/contract', version })
    const rows = await database.sql<{ version: string }>(
      `select context ->> 'version' as version from noetl.event where execution_id = $1 and event_type = 'playbook_started'`,
      [id],
    )
    expect(rows).toEqual([{ version: String(expected) }])
  })
  it.each([
    [9, 404],
    ['9', 404],
    ['newest', 400],
    [0, 400],
  ])('%j is answered %i', async (version, status) => {
    expect(await send('POST /api/execute', { body: { path: 'tests/contract', version } })).toMatchObject({ status })
  })
})

it('an adopted execution has the path of its catalog entry, and is found by it', async () => {
  const [entry] = await database.sql<{ catalog_id: string }>(
    "select catalog_id from noetl.catalog where path = 'tests/contract' and version = 1",
  )
  const id = '430000000000000001'
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, context, result, meta, created_at)
     values ($1::bigint, $1::bigint + 1, $2::bigint, 'playbook.initialized', 'playbook', 'contract', 'STARTED', '{"workload": {}}', '{"status": "STARTED"}', '{}', now() at time zone 'utc')`,
    [id, entry!.catalog_id],
  )
  const listed = await until('the execution is adopted', async () => {
    const { body } = await send('GET /api/executions?path=tests/contract&ids=string&limit=100')
    return body.find((row: { execution_id: string }) => row.execution_id === id)
  })
  expect(listed).toMatchObject({ path: 'tests/contract', catalog_id: entry!.catalog_id })
})

describe('64-bit ids', () => {
  const status = () => `GET /api/executions/${executionId}/status`
  it('are numbers for plain clients', async () => {
    expect((await send(status())).text).toContain(`"execution_id":${executionId}`)
  })
  it.each([
    ['?ids=string', '?ids=string', {}],
    ['the headers of a browser', '', BROWSER],
    ['an Origin', '', { origin: PAGE }],
  ])('are text with %s', async (_, query, headers) => {
    expect((await send(`${status()}${query}`, { headers })).text).toContain(`"execution_id":"${executionId}"`)
  })
  it('are numbers for the fetch of Node, which sends one of a browser’s headers', async () => {
    expect((await send(status(), { headers: { 'sec-fetch-mode': 'cors' } })).text).toContain(`:${executionId}`)
  })
  it('are numbers for a browser that asks for them', async () => {
    expect((await send(`${status()}?ids=number`, { headers: BROWSER })).text).toContain(`:${executionId}`)
  })
  it('are text whatever their size, where the route says that they are ids', async () => {
    const body = { execution_id: executionId, event_type: 'step.enter', step: 's', event_id: 7001 }
    expect((await send('POST /api/events?ids=string', { body })).body).toMatchObject({ event_id: '7001' })
  })
  it('are text in answers that are stored texts, and their neighbours stay as they are', async () => {
    const payload =
      '{"big":9007199254740993,"small":12,"float":0.12345678901234566,"text":"say \\"9007199254740993\\""}'
    const body = `{"execution_id":${executionId},"event_type":"step.enter","step":"s","event_id":7002,"payload":${payload}}`
    await send('POST /api/events', { body })
    const { text } = await send(`GET /api/executions/${executionId}/events/7002?ids=string`)
    expect(text).toContain(`"execution_id":"${executionId}"`)
    expect(text.replaceAll(' ', '')).toContain('"big":"9007199254740993"')
    expect(text.replaceAll(' ', '')).toContain('"small":12')
    expect(text.replaceAll(' ', '')).toContain('"float":0.12345678901234566')
    expect(text).toContain('"say \\"9007199254740993\\""')
  })
  it('asked for as anything else are refused', async () => {
    expect((await send(`${status()}?ids=hex`)).status).toBe(400)
  })
})

describe('web pages of listed origins', () => {
  const preflight = (origin: string) =>
    send('OPTIONS /api/execute', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,x-noetl-csrf',
      },
    })
  it('get a preflight answer with methods and headers, without credentials and without the console’s header', async () => {
    const { status, headers } = await preflight(PAGE)
    expect(status).toBe(204)
    expect(headers['access-control-allow-origin']).toBe(PAGE)
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      expect(headers['access-control-allow-methods']).toContain(method)
    for (const name of ['authorization', 'content-type', 'idempotency-key'])
      expect(headers['access-control-allow-headers']).toContain(name)
    expect(headers['access-control-allow-headers']).not.toContain('csrf')
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    expect(headers['vary']).toContain('Origin')
  })
  it('read answers and errors', async () => {
    for (const path of ['/api/executions', '/api/executions/1/status', '/api/nowhere']) {
      const { headers } = await send(`GET ${path}`, { headers: { origin: PAGE } })
      expect(headers['access-control-allow-origin']).toBe(PAGE)
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })
  it.each(['https://gui.example', 'http://gui.example:8443', 'https://evil.example', 'null'])(
    'but not those of %s',
    async (origin) => {
      expect((await preflight(origin)).headers['access-control-allow-origin']).toBeUndefined()
      const { status, headers } = await send('GET /api/executions', { headers: { origin } })
      expect(status).toBe(403)
      expect(headers['access-control-allow-origin']).toBeUndefined()
    },
  )
})

it.each([
  ['GET /api/executions/1/status', 404, undefined],
  ['GET /api/executions/x/status', 400, undefined],
  ['GET /api/nowhere', 404, undefined],
  ['POST /api/execute', 422, {}],
  ['POST /api/internal/outbox/claim', 503, {}],
])('%s: the error of status %i is in error and in detail', async (line, status, body) => {
  const answer = await send(line, { body })
  expect(answer.body).toMatchObject({ status, detail: answer.body.error })
  expect(answer.body.error).toEqual(expect.any(String))
})
