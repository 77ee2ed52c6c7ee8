// Promise: over HTTP an event is stored once, answers carry every digit, secrets stay out, rows of others show up;
// two daemons on one host never share a machine id, and a configured one that is taken stops the start.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { decomposeSnowflake } from '../../src/domain/ids/snowflake.js'
import { type Daemon, runBinary, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'

let database: TestDatabase
let first: Daemon
let second: Daemon
let executionId: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  const env = { NOETL_DATABASE_URL: database.url, NOETL_CP_ADOPT_INTERVAL: '0.2', HOSTNAME: 'one-host' }
  ;[first, second] = await Promise.all([
    startDaemon([], { env: { ...env, NOETL_CP_REDACT_KEYS: 'shoe_size' } }),
    startDaemon([], { env: { ...env, NOETL_CP_REDACT: 'false' } }),
  ])
  await post(first, '/api/catalog/register', { content: playbook('tests/http') })
  // Its events come from here alone, so that they can be counted.
  executionId = (await post(first, '/api/execute', { path: 'tests/http', driven: false })).body.execution_id
})
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()])
  await database?.drop()
})

async function post(daemon: Daemon, path: string, body: unknown) {
  const response = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) }
}
const event = (fields: object = {}) => ({ execution_id: executionId, step: 's', event_type: 'step.enter', ...fields })

describe('events over HTTP', () => {
  it('are answered with every digit, the same again the same, another under the id with 409', async () => {
    const id = '9007199254740993'
    const answer = await post(first, '/api/events', event({ event_id: id, payload: { a: 1 } }))
    expect(answer.text).toBe(`{"status":"ok","event_id":${id},"commands_generated":0,"stream_version":2}`)
    expect(
      (
        await post(
          second,
          '/api/events',
          `{"execution_id":${executionId},"step":"s","event_type":"step.enter","event_id":${id},"payload":{"a":1}}`,
        )
      ).text,
    ).toBe(answer.text)
    const clash = await post(second, '/api/events', event({ event_id: id, payload: { a: 2 } }))
    expect(clash).toMatchObject({ status: 409, body: { status: 409, error: expect.stringContaining(id) } })
  })
  it('in a batch have a result each', async () => {
    const item = { step: 's', event_type: 'step.exit' }
    const answer = await post(first, '/api/events/batch', {
      execution_id: executionId,
      worker_id: 'w',
      events: [item, { ...item, event_id: 71 }, { ...item, event_id: 71 }, { ...item, event_id: 71, step: 't' }],
    })
    expect(answer.body).toMatchObject({
      status: 'partial',
      commands_generated: 0,
      results: [
        { index: 0, status: 'stored', stream_version: 3 },
        { index: 1, status: 'stored', event_id: 71, stream_version: 4 },
        { index: 2, status: 'duplicate', event_id: 71, stream_version: 4 },
        { index: 3, status: 'conflict', event_id: 71, error: expect.stringContaining('71') },
      ],
    })
    expect((await post(first, '/api/events/batch', { execution_id: executionId, events: [] })).body).toEqual({
      status: 'ok',
      event_ids: [],
      commands_generated: 0,
      results: [],
    })
  })
  it('that claim a command answer 0 to its holder and 409 to others', async () => {
    const claim = (worker: string) =>
      event({ event_type: 'command.claimed', worker_id: worker, payload: { command_id: 'c-9' } })
    expect((await post(first, '/api/events', claim('w1'))).body.event_id).not.toBe(0)
    expect((await post(second, '/api/events', claim('w1'))).body).toEqual({
      status: 'ok',
      event_id: 0,
      commands_generated: 0,
    })
    expect((await post(second, '/api/events', claim('w2'))).status).toBe(409)
  })
  it('carry the trace of their request into the outbox', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await fetch(new URL('/api/events', first.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent, tracestate: 'a=b' },
      body: JSON.stringify(event({ event_id: 81 })),
    })
    const [row] = await database.sql('select trace from noetl.outbox where event_id = 81')
    expect(row).toEqual({ trace: { traceparent, tracestate: 'a=b' } })
  })
})

describe('secrets', () => {
  const payload = {
    author: 'Ada',
    tokens_used: 17,
    password: 'hunter22',
    nested: [{ 'X-Api-Key': 'k-123456' }],
    header: 'Bearer abcdef0123456789abcdef0123456789',
    shoe_size: 'forty-four',
  }
  const storedBy = async (daemon: Daemon, id: number): Promise<{ event: string; outbox: string }> => {
    expect((await post(daemon, '/api/events', event({ event_id: id, payload }))).status).toBe(200)
    const [row] = await database.sql<{ event: string; outbox: string }>(
      'select e.result::text || e.meta::text as event, o.payload::text as outbox from noetl.event e join noetl.outbox o using (execution_id, event_id) where event_id = $1',
      [id],
    )
    return row!
  }
  it('are replaced in event and outbox by exact keys, also configured ones', async () => {
    const row = await storedBy(first, 91)
    for (const text of [row.event, row.outbox]) {
      expect(text).toContain('"author": "Ada"')
      expect(text).toContain('"tokens_used": 17')
      expect(text).toContain('"shoe_size": "[REDACTED]"')
      for (const secret of ['hunter22', 'k-123456', 'abcdef0123456789', 'forty-four'])
        expect(text).not.toContain(secret)
    }
  })
  it('stay when the operator says so', async () => {
    expect((await storedBy(second, 92)).event).toContain('hunter22')
  })
})

describe('rows of others', () => {
  it('are listed, shown and counted within the interval', async () => {
    const id = '5555'
    await database.sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, context) values ($1, 1, 7, 'playbook_started', 'playbook', '{"path": "foreign/one"}'), ($1, 2, 7, 'step.enter', 'deep', null)`,
      [id],
    )
    const status = await until('it is known', async () => {
      const answer = await first.get(`/api/executions/${id}/status`)
      return answer.status === 200 && answer
    })
    expect(status.body).toMatchObject({ execution_id: 5555, status: 'RUNNING', current_step: 'deep' })
    const list = await second.get('/api/executions?path=foreign/*')
    expect(list.body).toMatchObject([{ execution_id: '5555', path: 'foreign/one', event_count: 2 }])
    expect((await second.get(`/api/executions/${id}`)).body.events).toHaveLength(2)
  })
})

describe('machine ids', () => {
  const machineOf = async (daemon: Daemon): Promise<number> =>
    Number(/^noetl_cp_machine_id (\d+)/m.exec((await daemon.get('/metrics')).text)![1])

  it('of two daemons on one host differ, in what they mint as well', async () => {
    const machines = [await machineOf(first), await machineOf(second)]
    expect(machines[0]).not.toBe(machines[1])
    for (const [index, daemon] of [first, second].entries()) {
      const started = await post(daemon, '/api/execute', { path: 'tests/http' })
      expect(decomposeSnowflake(BigInt(started.body.execution_id)).machineId).toBe(machines[index])
    }
  })
  it('that are configured and taken: exit 4, and the holder is named', async () => {
    const taken = String(await machineOf(first))
    const env = { NOETL_DATABASE_URL: database.url, NOETL_SERVER_MACHINE_ID: taken, HOSTNAME: 'another-host' }
    const done = await runBinary(['serve', '--port', '0'], { env })
    expect(done.code).toBe(4)
    expect(done.stderr).toMatch(new RegExp(`machine id ${taken} .*one-host:${first.pid}:`))
    // Given back at a stop: the same setting works at once.
    await first.stop()
    const third = await startDaemon([], { env })
    expect(await machineOf(third)).toBe(Number(taken))
    await third.stop()
  })
})
