// Promise: the audit finds every message that the stream lost and nothing else, --republish closes the gap; dead rows
// come back and may die again; readiness tells about a backlog that nobody publishes.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { startNats } from '../support/natsServer.js'
import { committedRows, countBy, insertRows } from '../support/outboxRows.js'
import { judge, type TestStream, useStream } from '../support/stream.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let database: TestDatabase
let stream: TestStream
let env: Record<string, string>

// A short duplicate window, so that a lost message can be repeated soon.
const FAST = {
  NOETL_CP_OUTBOX_LEASE: '5',
  NOETL_CP_OUTBOX_ACK_TIMEOUT: '0.5',
  NOETL_EVENT_STREAM_DEDUP_SECS: '11',
}

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql('truncate noetl.outbox restart identity')
  stream = await useStream(inject('servers'))
  env = { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, ...stream.env }
  return () => stream.close()
})

const run = (args: string[], extra: Record<string, string> = {}) =>
  builtCli(['outbox', ...args], { env: { ...env, ...extra } })
const audit = async (args: string[] = [], extra: Record<string, string> = {}) => {
  const ended = await run(['audit', '--json', ...args], extra)
  return { code: ended.code, body: JSON.parse(ended.stdout || 'null'), stderr: ended.stderr }
}

describe('outbox audit', () => {
  it('finds nothing when nothing is lost, over many pages', async () => {
    await insertRows(database, { rows: 12_000, executions: 100, prefix: stream.prefix })
    expect((await run(['drain'])).code).toBe(0)
    expect(await audit()).toMatchObject({
      code: 0,
      body: { checked: 12_000, missing: 0, aged_out: 0, unverified: 0, first_missing: null, recheck: null },
    })
    const none = await audit(['--since', '2999-01-01'])
    expect(none.body).toMatchObject({ checked: 0, missing: 0 })
  })

  it('finds deleted messages, and publishes them again after the duplicate window', async () => {
    await insertRows(database, { rows: 300, executions: 10, prefix: stream.prefix })
    expect((await run(['drain'], FAST)).code).toBe(0)
    for (const seq of [1, 150, 300]) await stream.jsm.streams.deleteMessage(stream.name, seq)
    const found = await audit([], FAST)
    expect(found).toMatchObject({
      code: 5,
      body: {
        checked: 300,
        missing: 3,
        first_missing: { shard: 0, stream_seq: '1' },
        last_missing: { stream_seq: '300' },
      },
    })
    const [closing, drained] = await Promise.all([
      audit(['--republish'], FAST),
      until('rows came back', async () => (await countBy(database))['PENDING'] === 3).then(() => run(['drain'], FAST)),
    ])
    expect(drained.code).toBe(0)
    expect(closing, JSON.stringify(closing)).toMatchObject({
      code: 0,
      body: { missing: 3, republished: 3, recheck: { published_again: true, missing: 0, checked: 300 } },
    })
    expect(judge(await stream.messages(), await committedRows(database))).toMatchObject({
      stored: 300,
      lost: [],
      duplicates: [],
    })
  })

  it('finds everything lost with the stream, and a daemon publishes it again', async () => {
    await insertRows(database, { rows: 2_000, executions: 40, prefix: stream.prefix })
    expect((await run(['drain'])).code).toBe(0)
    await stream.jsm.streams.delete(stream.name)
    const gone = await audit()
    expect(gone).toMatchObject({ code: 5, body: { stream_exists: false, missing: 2_000 } })
    // A new life of the stream, with other messages at the same sequences.
    await stream.make()
    for (let n = 0; n < 10; n++) await stream.connection.jetstream().publish(`${stream.prefix}.other`, '{}')
    const daemon = await startDaemon([], { env })
    try {
      const closed = await audit(['--republish'])
      expect(closed, closed.stderr).toMatchObject({
        code: 0,
        body: { missing: 2_000, republished: 2_000, recheck: { missing: 0 } },
      })
    } finally {
      await daemon.stop()
    }
    const ours = (await stream.messages()).filter((message) => message.messageId !== undefined)
    expect(judge(ours, await committedRows(database))).toMatchObject({
      stored: 2_000,
      lost: [],
      duplicates: [],
      outOfOrder: [],
    })
  })

  it('finds what a store lost that forgot acknowledged messages', async () => {
    const store = await mkdtemp(join(tmpdir(), 'noetl-nats-store-'))
    const nats = await startNats(['-sd', store])
    const own = await useStream({ natsUrl: `nats://127.0.0.1:${nats.port}`, natsToken: '' })
    const extra = { ...own.env, NOETL_NATS_TOKEN: '', NOETL_DATABASE_URL: database.url }
    try {
      await insertRows(database, { rows: 100, executions: 10, prefix: own.prefix })
      expect((await run(['drain'], extra)).code).toBe(0)
      await nats.kill()
      await rm(join(store, 'jetstream'), { recursive: true, force: true })
      await nats.start()
      expect(await audit([], extra)).toMatchObject({ code: 5, body: { missing: 100 } })
    } finally {
      await own.connection.close()
      await nats.stop()
      await rm(store, { recursive: true, force: true })
    }
  })

  it('does not take what the limits of the stream removed, or others published, for a loss', async () => {
    await stream.make({ max_msgs: 50 })
    await insertRows(database, { rows: 200, executions: 10, prefix: stream.prefix })
    expect((await run(['drain'])).code).toBe(0)
    await database.sql('update noetl.outbox set stream_seq = null where outbox_id = 200')
    const found = await audit()
    expect(found).toMatchObject({ code: 0, body: { missing: 0, unverified: 1 } })
    expect(found.body.aged_out).toBeGreaterThanOrEqual(149)
  })

  it('does not take a broker that stalls for one that has lost messages', async () => {
    await insertRows(database, { rows: 4_000, executions: 100, prefix: stream.prefix })
    expect((await run(['drain'])).code).toBe(0)
    const { hostname, port } = new URL(inject('servers').natsUrl)
    const proxy = await startTcpProxy(hostname, Number(port))
    try {
      for (const stallMs of [3_000, 7_000]) {
        proxy.stallAt('$JS.API.CONSUMER.MSG.NEXT', stallMs)
        const found = await audit(['--republish', '--max-seconds', '0'], {
          NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}`,
        })
        // Either everything was asked for and answered, or it says that it could not.
        if (found.code === 0) expect(found.body).toMatchObject({ checked: 4_000, missing: 0, republished: 0 })
        else expect(found).toMatchObject({ code: 69 })
      }
    } finally {
      await proxy.close()
    }
    expect(await countBy(database)).toEqual({ PUBLISHED: 4_000 })
  })

  it('counts a purged stream as lost: its age says that the messages should be there', async () => {
    await insertRows(database, { rows: 20, executions: 2, prefix: stream.prefix })
    expect((await run(['drain'])).code).toBe(0)
    await stream.jsm.streams.purge(stream.name)
    expect(await audit()).toMatchObject({ code: 5, body: { missing: 20 } })
    const open = await audit(['--republish', '--limit', '5', '--max-seconds', '1'])
    expect(open).toMatchObject({ code: 5, body: { republished: 5, recheck: { published_again: false } } })
    expect(open.stderr).toContain('is a relay running?')
  })

  it('ends with 69 when NATS is away', async () => {
    expect((await run(['audit'], { NOETL_NATS_URL: 'nats://127.0.0.1:1' })).code).toBe(69)
  })
})

describe('dead rows', () => {
  it('die, are redriven, and die again', async () => {
    await insertRows(database, { rows: 3, executions: 3, prefix: stream.prefix })
    await database.sql(`update noetl.outbox set subject = 'bad subject' where outbox_id = 2`)
    expect((await run(['drain'])).code).toBe(0)
    expect(await countBy(database)).toEqual({ PUBLISHED: 2, DEAD: 1 })
    const list = await run(['dead', 'list'])
    expect(list.stdout).toContain('DEAD')
    const dry = await run(['dead', 'redrive', '--all', '--dry-run'])
    expect(dry.stdout).toContain('1 row(s) would come back')
    expect((await run(['dead', 'redrive'])).code).toBe(2)
    expect((await run(['dead', 'redrive', '2'])).stdout).toContain('1 row(s) came back')
    expect(await countBy(database)).toEqual({ PUBLISHED: 2, PENDING: 1 })
    expect((await run(['drain'])).code).toBe(0)
    expect(await countBy(database)).toEqual({ PUBLISHED: 2, DEAD: 1 })
    // Mended, it goes.
    await database.sql(`update noetl.outbox set subject = $1::text where outbox_id = 2`, [`${stream.prefix}.mended`])
    await run(['dead', 'redrive', '--reason', 'subject'])
    expect((await run(['drain'])).code).toBe(0)
    expect(await countBy(database)).toEqual({ PUBLISHED: 3 })
  })
})

describe('after a relay vanished long ago', () => {
  it('a row that comes back is published although later rows of its execution are in the stream', async () => {
    await insertRows(database, { rows: 2, executions: 1, prefix: stream.prefix })
    await database.sql(`update noetl.outbox set status = 'DEAD', last_error = 'test' where outbox_id = 1`)
    expect((await run(['drain'])).code).toBe(0)
    await database.sql(
      `update noetl.lease set owner = 'gone', lease_until = now() - interval '1 hour', renewed_at = now() - interval '1 hour' where kind = 'outbox'`,
    )
    await run(['dead', 'redrive', '1'])
    expect((await run(['drain'])).code).toBe(0)
    expect(await countBy(database)).toEqual({ PUBLISHED: 2 })
    expect(judge(await stream.messages(), await committedRows(database))).toMatchObject({ stored: 2, lost: [] })
  })
})

describe('the other commands', () => {
  it('show, list, retry and purge', async () => {
    await insertRows(database, { rows: 4, executions: 2, prefix: stream.prefix })
    await database.sql(
      `update noetl.outbox set status = 'FAILED', last_error = 'no', available_at = now() + interval '1 hour' where outbox_id = 1`,
    )
    expect((await run(['status'])).stdout).toContain('waiting')
    const status = JSON.parse((await run(['status', '--json'])).stdout)
    expect(status.shards[0]).toMatchObject({ pending_ready: 3, failed_waiting: 1, dead: 0 })
    expect((await run(['list', '--status', 'failed'])).stdout).toContain('FAILED')
    expect((await run(['list', '--status', 'lost'])).code).toBe(2)
    const page = await run(['list', '--limit', '2', '--json'])
    expect(JSON.parse(page.stdout)).toMatchObject({ rows: [{ outbox_id: '1' }, { outbox_id: '2' }], next: '0:2' })
    expect(JSON.parse((await run(['list', '--after', '0:2', '--json'])).stdout).rows).toHaveLength(2)
    expect((await run(['show', '1'])).stdout).toContain('"event_type": "step.exit"')
    expect((await run(['show', '77'])).code).toBe(3)
    expect((await run(['retry'])).code).toBe(2)
    expect((await run(['retry', '1'])).stdout).toContain('1 row(s)')
    expect((await run(['drain'])).code).toBe(0)
    expect((await run(['purge'])).code).toBe(0)
    expect(await countBy(database)).toEqual({ PUBLISHED: 4 })
    expect((await run(['purge', '--older-than', '0s'])).code).toBe(2)
    expect((await run(['purge', '--older-than', '0s', '--yes'])).code).toBe(0)
    expect(await countBy(database)).toEqual({})
  })
})

describe('retry', () => {
  it('is noticed by a relay that already waits for the row', async () => {
    const daemon = await startDaemon([], { env })
    try {
      await insertRows(database, { rows: 1, executions: 1, prefix: stream.prefix, firstEvent: 1 })
      await until('it is published', async () => (await countBy(database))['PUBLISHED'] === 1)
      await database.sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload, status, available_at) values (5, 5, $1::text, '{}', 'FAILED', now() + interval '1 hour')`,
        [`${stream.prefix}.retry`],
      )
      // The relay reads in the order of the table: when this one is out, it has read the one before.
      await database.sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload) values (6, 6, $1::text, '{}')`,
        [`${stream.prefix}.next`],
      )
      await until('the next row is published', async () => (await countBy(database))['PUBLISHED'] === 2)
      expect((await run(['retry', '--execution', '5'])).stdout).toContain('1 row(s)')
      await until('it is published', async () => (await countBy(database))['PUBLISHED'] === 3)
    } finally {
      await daemon.stop()
    }
  })
})

describe('readiness', () => {
  it('turns red when a row waits too long, and green again', async () => {
    const daemon = await startDaemon([], { env: { ...env, NOETL_CP_OUTBOX_MAX_AGE: '2', NOETL_CP_RELAY: 'false' } })
    try {
      expect((await daemon.get('/readyz')).status).toBe(200)
      await insertRows(database, { rows: 3, executions: 3, prefix: stream.prefix })
      await until('it is red', async () => (await daemon.get('/readyz')).status === 503)
      const { body } = await daemon.get('/readyz')
      expect(body.checks.outbox).toMatchObject({ ok: false, detail: expect.stringContaining('3 rows in all') })
      const pending = await daemon.get('/api/internal/outbox/pending-count', {
        authorization: `Bearer ${INTERNAL_TOKEN}`,
      })
      expect(pending.body).toEqual({ pending: 3 })
      expect((await daemon.get('/api/internal/outbox/pending-count')).status).toBe(403)
      expect((await run(['drain'])).code).toBe(0)
      await until('it is green', async () => (await daemon.get('/readyz')).status === 200)
    } finally {
      await daemon.stop()
    }
  })
})
