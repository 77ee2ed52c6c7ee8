// Promise: whatever a client sends is answered by a 4xx in our shape that names the field, writes nothing, leaves
// the daemon as it was and never shows up in the log.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { rawRequest } from '../http/httpHarness.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const SECRET = 'do-not-log-this-payload'
let database: TestDatabase
let daemon: Daemon
let executionId: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, NOETL_CP_LOG_LEVEL: 'trace' },
  })
  await send('/api/catalog/register', JSON.stringify({ content: playbook('tests/bad') }))
  executionId = (await send('/api/execute', '{"path":"tests/bad","driven":false}')).body.execution_id
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

async function send(path: string, body: string | Uint8Array, method = 'POST') {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
    ...(method === 'GET' ? {} : { body: body as string }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) }
}

const counts = async (): Promise<unknown> =>
  (
    await database.sql(
      `select (select count(*)::int from noetl.event) as events, (select count(*)::int from noetl.outbox) as outbox, (select count(*)::int from noetl.execution) as executions,
        (select count(*)::int from noetl.catalog) as catalog, (select count(*)::int from noetl.subscription_dedup) as dedup, (select count(*)::int from noetl.projector_quarantine) as quarantine`,
    )
  )[0]

/** The status is one of these, the body is ours and names the field, and no row has come or gone. */
async function refused(path: string, body: string | Uint8Array, names: RegExp, statuses = [400, 422]) {
  const before = await counts()
  const answer = await send(path, body)
  expect(statuses, answer.text).toContain(answer.status)
  expect(answer.body).toEqual({ error: expect.any(String), status: answer.status, detail: expect.any(String) })
  expect(answer.body.error).toMatch(names)
  expect(answer.text).not.toContain(SECRET)
  expect(await counts()).toEqual(before)
}

/** A place for one wrong value in an otherwise right body. */
const ROUTES: [path: string, body: (value: string) => string, pointer: string][] = [
  [
    '/api/events',
    (v) => `{"execution_id":"${executionId}","step":"s","event_type":"x","payload":{"k":${v}}}`,
    '/payload/k',
  ],
  [
    '/api/events/batch',
    (v) => `{"execution_id":"${executionId}","events":[{"step":"s","event_type":"x","payload":{"k":${v}}}]}`,
    '/events/0/payload/k',
  ],
  ['/api/execute', (v) => `{"path":"tests/bad","payload":{"k":${v}}}`, '/payload/k'],
  ['/api/catalog/register', (v) => `{"content":"x","resource_type":${v}}`, '/resource_type'],
  [
    '/api/internal/events/project',
    (v) => `{"events":[{"event_id":1,"execution_id":2,"context":{"k":${v}}}]}`,
    '/events/0/context/k',
  ],
]

describe.each(ROUTES)('%s refuses', (path, body, pointer) => {
  const at = new RegExp(`at ${pointer}`)
  it.each([
    ['U+0000', `"${SECRET}\\u0000"`],
    ['a lone surrogate', `"${SECRET}\\ud800"`],
    ['half a pair in a key', `{"\\udc00${SECRET}":1}`],
    ['a number beyond a double', '1e400'],
    ['duplicate keys', `{"a":"${SECRET}","a":1}`],
    ['100,000-deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['100,000-deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['an integer of 5,000 digits', '9'.repeat(5_000)],
    ['a trailing comma', `["${SECRET}",]`],
    ['NaN', 'NaN'],
  ])('%s', async (_name, value) => {
    await refused(path, body(value), at)
  })
  it('invalid UTF-8', async () => {
    const bytes = Buffer.from(body('"@"'))
    bytes[bytes.indexOf('@')] = 0xff
    await refused(path, bytes, /UTF-8/)
  })
  it.each([
    ['nothing', ''],
    ['text', '"x"'],
    ['a list', '[]'],
    ['null', 'null'],
    ['half an object', '{"a":'],
    ['no object', '{}'],
  ])('%s as body', async (name, text) => {
    if (path === '/api/execute' && name === 'no object') return refused(path, text, /catalog_id|path/)
    await refused(path, text, /body|missing|JSON|catalog_id|path/)
  })
  it('a body of 64 MB, quickly', async () => {
    const started = performance.now()
    const big = Buffer.alloc(64 * 1024 * 1024, 0x20)
    const answer = await fetch(new URL(path, daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
      body: big,
    }).then(
      (response) => response.status,
      // The server may cut a client that goes on sending.
      (error: { cause?: { code?: string } }) => error.cause?.code,
    )
    expect([413, 'EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']).toContain(answer)
    expect(performance.now() - started).toBeLessThan(30_000)
  })
})

describe('a body announced or sent as too large', () => {
  it('gets a 413 in our shape', async () => {
    const head = 'POST /api/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    const announced = await rawRequest(daemon.url, (socket) => socket.write(`${head}content-length: 67108864\r\n\r\n{`))
    expect(announced).toMatch(/^HTTP\/1.1 413 .*\{"error":"the body is larger/s)
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const sendChunks = () =>
      rawRequest(daemon.url, (socket) => {
        socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
        for (let n = 0; n < 300; n++) socket.write(chunk)
      })
    // A client that goes on sending may be cut before it has read the answer.
    expect(await until('an answer', async () => (await sendChunks()) || undefined)).toMatch(/^HTTP\/1.1 413 /)
  })
})

describe('wrong types and ids', () => {
  const event = (fields: object) => JSON.stringify({ execution_id: executionId, step: 's', event_type: 'x', ...fields })
  it.each([
    ['execution_id', '-1'],
    ['execution_id', -1],
    ['execution_id', '9223372036854775808'],
    ['execution_id', '1'.repeat(60)],
    ['execution_id', 'abc'],
    ['execution_id', 1.5],
    ['execution_id', true],
    ['execution_id', null],
    ['execution_id', {}],
    ['execution_id', ' 1'],
    ['execution_id', '01'],
    ['execution_id', ''],
    ['event_id', -5],
    ['event_id', 'x'],
    ['event_id', '9223372036854775808'],
    ['event_id', [1]],
    ['event_type', 7],
    ['event_type', ''],
    ['event_type', 'x'.repeat(2_000)],
    ['step', 7],
    ['meta', []],
    ['meta', 'x'],
    ['worker_id', 7],
    ['result_kind', 'nope'],
    ['event_ids', 'x'],
    ['event_ids', [1, 'x']],
    ['actionable', 'yes'],
    ['created_at', 'yesterday'],
    ['created_at', '2026-02-30T00:00:00Z'],
    ['created_at', 7],
    ['catalog_id', 'x'],
    ['parent_event_id', 'x'],
    ['parent_execution_id', -1],
    ['duration', 'long'],
    ['error', 7],
    ['tenant_id', 7],
  ])('/api/events %s = %j', async (field, value) => {
    const result = field === 'result_kind' ? {} : field === 'event_ids' ? { result_kind: 'refs' } : {}
    await refused('/api/events', event({ ...result, [field]: value }), new RegExp(`/${field}`))
  })
  it('in the fifth item of a batch: named, and nothing of the batch is written', async () => {
    const events = [1, 2, 3, 4, 5].map((n) => ({ step: n === 5 ? 7 : 's', event_type: 'x' }))
    await refused('/api/events/batch', JSON.stringify({ execution_id: executionId, events }), /\/events\/4\/step/)
  })
  it('more items than a batch takes', async () => {
    const events = Array.from({ length: 10_001 }, () => ({ step: 's', event_type: 'x' }))
    await refused('/api/events/batch', JSON.stringify({ execution_id: executionId, events }), /\/events .*10000/)
  })
  it.each([
    [{ path: 7 }, /\/path/],
    [{ path: '' }, /\/path/],
    [{ path: 'x'.repeat(600) }, /\/path/],
    [{ path: 'tests/bad', payload: [] }, /\/payload/],
    [{ path: 'tests/bad', dedup: {} }, /\/dedup\/key/],
    [{ path: 'tests/bad', dedup: { key: '' } }, /\/dedup\/key/],
    [{ path: 'tests/bad', dedup: { key: 'k', window_secs: 0 } }, /\/dedup\/window_secs/],
    [{ path: 'tests/bad', dedup: { key: 'k', window_secs: 1.5 } }, /\/dedup\/window_secs/],
    [{ catalog_id: 'x' }, /\/catalog_id/],
    [{ catalog_id: -1 }, /\/catalog_id/],
    [{ path: 'tests/bad', parent_execution_id: '1e3' }, /\/parent_execution_id/],
  ])('/api/execute %j', async (body, names) => {
    await refused('/api/execute', JSON.stringify(body), names)
  })
  it('unknown things are 404, not 500', async () => {
    await refused('/api/events', event({ execution_id: '12345' }), /12345/, [404])
    await refused('/api/execute', '{"path":"no/such"}', /no\/such/, [404])
    await refused('/api/execute', '{"catalog_id":12345}', /12345/, [404])
  })
  it.each([
    ['no YAML', '{unclosed: ['],
    ['a list', '- a'],
    ['no metadata', 'kind: Playbook'],
    ['no path', 'kind: Playbook\nmetadata: {}'],
    ['an unknown kind', 'kind: Nonsense\nmetadata: {path: a/b}'],
    ['aliases that explode', bomb()],
    ['deep nesting', `metadata: {path: a/b}\nkind: Playbook\nworkload: ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['NUL in a value', 'kind: Playbook\nmetadata: {path: a/b}\nworkload: {x: "\\0"}\nworkflow: []'],
    ['a lone surrogate in a value', 'kind: Playbook\nmetadata: {path: a/b}\nworkload: {x: "\\uD800"}\nworkflow: []'],
    ['a path of 600 characters', `kind: Playbook\nmetadata: {path: ${'p'.repeat(600)}}\nworkflow: []`],
    ['a path with NUL', 'kind: Playbook\nmetadata: {path: "a\\0b"}\nworkflow: []'],
    ['duplicate keys', 'kind: Playbook\nmetadata: {path: a/b}\nworkload: {a: 1, a: 2}'],
  ])('a catalog document with %s, plain and base64', async (_name, content) => {
    await refused('/api/catalog/register', JSON.stringify({ content }), /.../)
    await refused('/api/catalog/register', JSON.stringify({ content: Buffer.from(content).toString('base64') }), /.../)
  })
})

function bomb(): string {
  let text = 'kind: Playbook\nmetadata: {path: a/b}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n'
  for (let n = 1; n < 12; n++)
    text += `a${n}: &a${n} [${Array(10)
      .fill(`*a${n - 1}`)
      .join(', ')}]\n`
  return text
}

describe('paths, queries and headers', () => {
  it.each([
    ['/api/executions/-1', 400],
    ['/api/executions/abc', 400],
    ['/api/executions/99999999999999999999', 400],
    [`/api/executions/${'9'.repeat(400)}`, 400],
    [`/api/executions/${'9'.repeat(5_000)}`, 400],
    ['/api/executions/1%00', 400],
    ['/api/executions/%00', 400],
    ['/api/executions/%ff', 400],
    ['/api/executions/%F0%9F%98%80/status', 400],
    ['/api/executions/..%2f..%2fetc', 400],
    ['/api/executions/424242', 404],
    ['/api/executions/424242/status', 404],
    ['/api/executions?limit=x', 400],
    ['/api/executions?limit=1&limit=2', 400],
    ['/api/executions?cursor=abc', 400],
    [`/api/executions?cursor=${Buffer.from('infinity|1').toString('base64url')}`, 400],
    [`/api/executions?cursor=${Buffer.from('|1').toString('base64url')}`, 400],
    [`/api/executions?cursor=${Buffer.from('2026-01-01 00:00:00+00|x').toString('base64url')}`, 400],
    ['/api/executions?path=%00', 400],
    ['/api/executions?path=a%00*', 400],
    ['/api/executions?status=%00', 400],
    ['/api/executions?since=never', 400],
    ['/api/executions?catalog_id=-1', 400],
    ['/api/executions?offset=-1', 400],
    ['/api/executions?offset=99999999', 400],
    ['/api/runtime/shard-info?execution_id=x', 400],
    ['/api/runtime/shard-info?execution_id=1&shard_count=0', 400],
  ])('GET %.80s is %i', async (path, status) => {
    const answer = await send(path, '', 'GET')
    expect(answer.status, answer.text).toBe(status)
    expect(answer.body).toEqual({ error: expect.any(String), status, detail: answer.body.error })
    expect(answer.body.error.length).toBeLessThan(450)
  })
  it('strange trace headers are left out, not refused', async () => {
    for (const traceparent of ['x', '00-\u00ff', '0'.repeat(4_000)]) {
      const response = await fetch(new URL('/api/events', daemon.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', traceparent },
        body: JSON.stringify({ execution_id: executionId, step: 's', event_type: 'x' }),
      })
      expect(response.status).toBe(200)
    }
  })
})

describe('what is strange but right', () => {
  it('survives: __proto__, big integers, floats, keys of every kind', async () => {
    const payload =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"big":9223372036854775807,"bigger":123456789012345678901234567890,"f":1.0,"neg":-0.5,"é\\n":"😀"}'
    const answer = await send(
      '/api/events',
      `{"execution_id":${executionId},"step":"s","event_type":"x","event_id":9007199254740993,"payload":${payload}}`,
    )
    expect(answer.status, answer.text).toBe(200)
    expect(answer.text).toContain('"event_id":9007199254740993')
    const [row] = await database.sql<{ text: string; polluted: boolean; published: string }>(
      `select e.result::text as text, (result -> 'context' -> '__proto__' ->> 'polluted')::boolean as polluted, (o.payload -> 'result')::text as published
       from noetl.event e join noetl.outbox o using (execution_id, event_id) where event_id = 9007199254740993`,
    )
    expect(row!.polluted).toBe(true)
    expect(row!.published).toBe(row!.text)
    for (const part of ['9223372036854775807', '123456789012345678901234567890', '1.0', '😀'])
      expect(row!.text).toContain(part)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    const shown = await send(`/api/executions/${executionId}`, '', 'GET')
    expect(shown.text).toContain('123456789012345678901234567890')
    expect(shown.text).toContain(`"execution_id":${executionId}`)
  })
  it('a command id of any length and a node name at the limit are stored or refused, never a 500', async () => {
    const random = Array.from({ length: 20_000 }, (_, n) => String.fromCharCode(97 + ((n * 7919) % 26))).join('')
    for (const body of [
      { event_type: 'command.claimed', step: 's', worker_id: 'w', payload: { command_id: random } },
      { event_type: 'x'.repeat(1_024), step: '😀'.repeat(512) },
      { event_type: 'playbook_started', path: 'tests/bad', payload: { path: random } },
    ]) {
      const answer = await send('/api/events', JSON.stringify({ execution_id: executionId, ...body }))
      expect(answer.status, answer.text).toBeLessThan(500)
    }
  })
})

describe('after all that', () => {
  it('the daemon is the same process, ready, and its log knows no payload', async () => {
    expect((await daemon.get('/readyz')).status).toBe(200)
    const log = daemon.stdout() + daemon.stderr()
    expect(log).not.toContain(SECRET)
    expect(log).not.toContain(INTERNAL_TOKEN)
    expect(log).not.toContain(new URL(database.url).password)
    expect(log).not.toMatch(/"level":(50|60)/)
  })
})
