// Promise: a worker that speaks NoETL's contract over NATS and HTTP completes a playbook, whatever it does wrong on its way:
// it dies, answers twice, too late, in the wrong order or with a wrong clock, or hears old news. Bad calls are told so.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { useDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'
import { type Answer, doneWith, eventText, type ForeignWorker, listen, type Notice, post } from './foreignWorker.js'

const database = useDatabase()
let daemon: Daemon
let stream: TestStream

beforeAll(async () => {
  stream = await useStream(inject('servers'))
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url, ...stream.env } })
  await until('the stream of commands is there', () =>
    stream.jsm.streams.info('noetl_commands').then(
      () => true,
      () => false,
    ),
  )
})
afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
})

const api = (path: string, body?: object | string) => post(daemon.url, path, body)
const claim = (eventId: string, workerId: string, more: object = {}) =>
  api(`/api/commands/${eventId}/claim`, { worker_id: workerId, ...more })
const send = (claimed: Answer, workerId: string, type: string, said: Parameters<typeof eventText>[3]) =>
  api('/api/events', eventText(claimed, workerId, type, said))
const completed = { status: 'success', payload: { status: 'success' } }

/** Its pool, so that no other test hears of it. */
async function start(workflow: string): Promise<{ pool: string; executionId: string }> {
  const pool = `p${randomBytes(4).toString('hex')}`
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: foreign/${pool}}\n${workflow}`
  expect((await api('/api/catalog/register', { content })).status).toBe(200)
  const started = await api('/api/execute', { path: `foreign/${pool}`, execution_pool: pool })
  expect(started.status).toBe(200)
  return { pool, executionId: /"execution_id":"?(\d+)/.exec(started.text)![1]! }
}

const ONE = 'workflow:\n- {step: a, tool: {kind: python, code: "x"}}\n'

async function statusOf(executionId: string): Promise<string> {
  return (await daemon.get(`/api/executions/${executionId}/status`)).body.status
}
const ends = (executionId: string, status = 'COMPLETED') =>
  until(`${executionId} is ${status}`, async () => (await statusOf(executionId)) === status)

async function withWorker<T>(pool: string, use: (worker: ForeignWorker) => Promise<T>): Promise<T> {
  const worker = await listen(inject('servers'), pool, `worker-${pool}`)
  try {
    return await use(worker)
  } finally {
    await worker.close()
  }
}

/** Without NATS: the oldest command of the pool. */
async function claimFirst(
  pool: string,
  workerId: string,
  more: object = {},
): Promise<{ claimed: Answer; eventId: string }> {
  const answer = await api('/api/commands/claim', { worker_id: workerId, pools: [pool], wait_seconds: 20, ...more })
  expect(answer.status).toBe(200)
  const eventId = /"event_id":(\d+)/.exec(answer.text)![1]!
  return { claimed: await claim(eventId, workerId), eventId }
}

it('completes a playbook of three steps', async () => {
  const { pool, executionId } = await start(
    ['a', 'b', 'c']
      .map((step, at) => `- {step: ${step}, tool: {kind: python, code: "x"}${at < 2 ? `, next: [${'bc'[at]}]` : ''}}`)
      .reduce((all, line) => `${all}${line}\n`, 'workflow:\n'),
  )
  const heard: Notice[] = []
  await withWorker(pool, async (worker) => {
    for (const step of ['a', 'b', 'c']) {
      const { notice, message } = await worker.next()
      heard.push(notice)
      expect(message.subject).toBe(`noetl.commands.${pool}.${executionId}`)
      expect(message.headers?.get('Nats-Msg-Id')).toBe(`${executionId}:${notice.eventId}:cmd:1`)
      expect(notice.text).toBe(
        `{"execution_id":${executionId},"event_id":${notice.eventId},"command_id":"${executionId}:${step}:1","step":"${step}","server_url":"${daemon.url.replace(/\/$/, '')}","execution_pool":"${pool}"}`,
      )
      const claimed = await claim(notice.eventId, 'rust-1')
      expect(claimed.status).toBe(200)
      expect(claimed.text).toMatch(
        new RegExp(
          `^\\{"status":"ok","event_id":${notice.eventId},"execution_id":${executionId},"node_id":"${step}","node_name":"${step}","action":"python","context":\\{`,
        ),
      )
      expect(claimed.body.context).toMatchObject({
        tool_config: { kind: 'python', code: 'x' },
        args: {},
        render_context: {},
      })
      expect(claimed.body.meta).toMatchObject({ command_id: notice.commandId, attempt: 1, attempts: 1, lease_token: 1 })
      expect((await send(claimed, 'rust-1', 'command.started', { status: 'STARTED' })).body.status).toBe('ok')
      expect((await send(claimed, 'rust-1', 'call.done', doneWith({ at: step }))).body.status).toBe('ok')
      expect((await send(claimed, 'rust-1', 'command.completed', completed)).body.status).toBe('ok')
    }
  })
  await ends(executionId)
  // A durable consumer that is made later reads all of it again.
  await withWorker(pool, async (late) => {
    for (const { eventId } of heard) {
      expect((await late.next()).notice.eventId).toBe(eventId)
      const refused = await claim(eventId, 'rust-2')
      expect(refused).toMatchObject({ status: 409, body: { status: 409, detail: { code: 'already_terminal' } } })
    }
  })
})

describe('a worker that', () => {
  it('dies after its claim is followed by another, and its late answers are ignored', async () => {
    const { pool, executionId } = await start(ONE)
    await withWorker(pool, async (worker) => {
      const { notice } = await worker.next()
      const first = await claim(notice.eventId, 'dead', { lease_seconds: 1 })
      expect(first.body.meta.attempt).toBe(1)
      const held = await claim(notice.eventId, 'other')
      expect(held).toMatchObject({ status: 409, body: { detail: { code: 'active_claim' } } })
      expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0)
      const again = await worker.next()
      expect(again.notice.eventId).toBe(notice.eventId)
      expect(again.message.headers?.get('Nats-Msg-Id')).toBe(`${executionId}:${notice.eventId}:cmd:2:1`)
      const second = await claim(notice.eventId, 'other')
      expect(second.body.meta).toMatchObject({ attempt: 2, attempts: 2 })
      expect(await send(first, 'dead', 'call.done', doneWith('old'))).toMatchObject({
        status: 200,
        body: { status: 'ignored', reason: 'reclaimed' },
      })
      expect((await api(`/api/commands/${notice.eventId}/heartbeat`, { worker_id: 'dead' })).status).toBe(409)
      await send(second, 'other', 'call.done', doneWith('new'))
      await send(second, 'other', 'command.completed', completed)
      expect((await send(first, 'dead', 'command.completed', completed)).body.status).toBe('ignored')
    })
    await ends(executionId)
  })

  it('answers twice is heard once', async () => {
    const { pool, executionId } = await start(ONE)
    const { claimed } = await claimFirst(pool, 'w')
    for (const expected of ['ok', 'ignored']) {
      expect((await send(claimed, 'w', 'call.done', doneWith(expected))).body.status).toBe(expected)
      expect((await send(claimed, 'w', 'command.completed', completed)).body.status).toBe(expected)
    }
    await ends(executionId)
    const types = await database
      .get()
      .sql<{ event_type: string }>(
        `select event_type from noetl.event where execution_id = $1::bigint and event_type ~ '^(call|command)' order by stream_version`,
        [executionId],
      )
    expect(types.map(({ event_type }) => event_type)).toEqual([
      'command.issued',
      'command.claimed',
      'call.done',
      'command.completed',
    ])
  })

  it.each(['2001-01-01T00:00:00Z', '2061-01-01T00:00:00Z'])('believes it is %s is heard all the same', async (at) => {
    const { pool, executionId } = await start(ONE)
    const { claimed } = await claimFirst(pool, 'w')
    const more = `,"created_at":"${at}"`
    expect((await send(claimed, 'w', 'call.done', { ...doneWith(1), more })).body.status).toBe('ok')
    expect((await send(claimed, 'w', 'command.completed', { ...completed, more })).body.status).toBe('ok')
    await ends(executionId)
  })

  it('sends the end before the data loses nothing', async () => {
    const { pool, executionId } = await start(ONE)
    const { claimed } = await claimFirst(pool, 'w')
    expect((await send(claimed, 'w', 'command.completed', completed)).body.status).toBe('ok')
    expect((await send(claimed, 'w', 'call.done', doneWith({ n: 5 }))).body.status).toBe('ok')
    await ends(executionId)
    const [end] = await database
      .get()
      .sql<{ data: unknown }>(
        `select result #> '{context,data}' as data from noetl.event where execution_id = $1::bigint and event_type = 'playbook.completed'`,
        [executionId],
      )
    expect(end?.data).toEqual({ n: 5 })
  })

  it('works for a cancelled execution is told so, and nothing of it is handed out', async () => {
    const { pool, executionId } = await start(ONE)
    const { claimed, eventId } = await claimFirst(pool, 'w')
    expect((await api(`/api/commands/${eventId}/heartbeat`, { worker_id: 'w' })).body).toMatchObject({
      cancelled: false,
    })
    expect((await api(`/api/executions/${executionId}/cancel`, {})).status).toBe(200)
    expect((await api(`/api/commands/${eventId}/heartbeat`, { worker_id: 'w' })).body).toEqual({
      lease_until: null,
      cancelled: true,
    })
    expect((await daemon.get(`/api/executions/${executionId}/cancellation-check`)).body.is_cancelled).toBe(true)
    expect(await claim(eventId, 'other')).toMatchObject({ status: 409, body: { detail: { code: 'cancelled' } } })
    expect((await send(claimed, 'w', 'command.completed', completed)).body).toMatchObject({
      status: 'ignored',
      reason: 'cancelled',
    })
    expect((await api('/api/commands/claim', { worker_id: 'w', pools: [pool], max: 5 })).body.commands).toEqual([])
  })
})

it('bad calls are told what is wrong, and nothing is lost', async () => {
  const { pool, executionId } = await start(ONE)
  const { claimed, eventId } = await claimFirst(pool, 'w')
  expect((await claim('17', 'w')).status).toBe(404)
  expect((await claim('x', 'w')).status).toBe(400)
  expect((await api(`/api/commands/${eventId}/claim`, {})).status).toBe(422)
  expect((await api(`/api/commands/${eventId}/claim`)).status).toBe(400)
  expect((await api(`/api/commands/${eventId}/claim`, { worker_id: 'w', lease_seconds: -1 })).status).toBe(400)
  expect((await api(`/api/commands/${eventId}/heartbeat`, { worker_id: 'other' })).status).toBe(409)
  expect((await api(`/api/commands/${eventId}/heartbeat`, { worker_id: 'w', lease_token: 7 })).status).toBe(409)
  expect((await api('/api/commands/claim', { worker_id: 'w', pools: [] })).status).toBe(400)
  expect((await api('/api/commands/claim', { worker_id: 'w', pools: [pool], max: 0 })).status).toBe(400)
  expect((await api(`/api/commands/${eventId}/requeue`, {})).status).toBe(503)
  // Answered before it is sent whole: a client that is still writing may see its connection end instead.
  const huge = await send(claimed, 'w', 'call.done', doneWith('x'.repeat(70_000_000))).then(
    ({ status }) => status,
    (error: { cause?: { code?: string } }) => error.cause?.code,
  )
  expect([413, 'EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']).toContain(huge)
  const got = await daemon.get(`/api/commands/${eventId}`)
  expect(got.text).toMatch(new RegExp(`^\\{"execution_id":${executionId},"node_id":"a"`))
  expect((await daemon.get(`/api/commands?pool=${pool}`)).body).toMatchObject({
    count: 1,
    items: [{ status: 'CLAIMED' }],
  })
  expect((await daemon.get('/api/commands?status=lost')).status).toBe(400)
  await send(claimed, 'w', 'call.done', doneWith(1))
  await send(claimed, 'w', 'command.completed', completed)
  await ends(executionId)
})

it('a worker that waits for commands does not hold up the end of the daemon', async () => {
  const other = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url, NOETL_CP_WORKER: 'false' } })
  const waiting = post(other.url, '/api/commands/claim', { worker_id: 'w', pools: ['nothing'], wait_seconds: 30 })
  await until('it waits', async () => {
    const { text } = await other.get('/metrics')
    return /^noetl_cp_workers_waiting 1$/m.test(text)
  })
  const began = performance.now()
  expect((await other.stop()).code).toBe(0)
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(await waiting).toMatchObject({ status: 200, body: { commands: [] } })
})
