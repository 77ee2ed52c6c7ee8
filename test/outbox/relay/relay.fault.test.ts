// Promises, with faults from outside: every committed row reaches the stream, stored once; first deliveries of
// an execution are in outbox order; nothing uncommitted is published; a relay that died, hung or lost its lease
// is replaced, and its late marks change nothing.
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../support/binary.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../../support/database.js'
import { committedRows, countBy, insertRows } from '../../support/outboxRows.js'
import { scaled } from '../../support/scale.js'
import { judge, type TestStream, useStream } from '../../support/stream.js'
import { startTcpProxy } from '../../support/tcpProxy.js'
import { until } from '../../support/until.js'

const shared = useDatabase()
const REFUSE_SOME = fileURLToPath(new URL('./preload/refuseSome.mjs', import.meta.url))
const SIGNAL_AT = fileURLToPath(new URL('./preload/signalAt.mjs', import.meta.url))

const ROWS = scaled(4_000, 10_000)

let database: TestDatabase
let stream: TestStream
let daemons: Daemon[]

beforeEach(async () => {
  database = await cloneDatabase(shared.servers())
  stream = await useStream(shared.servers())
  daemons = []
})

afterEach(async () => {
  for (const daemon of daemons) await daemon.stop('SIGKILL').catch(() => undefined)
  await stream.close()
  await database.drop()
})

async function relay(env: Record<string, string> = {}, preload: string[] = []): Promise<Daemon> {
  const daemon = await startDaemon([], {
    env: {
      ...stream.env,
      NOETL_DATABASE_URL: database.url,
      NOETL_CP_OUTBOX_LEASE: '3',
      NOETL_CP_OUTBOX_ACK_TIMEOUT: '2',
      NOETL_CP_PROJECTOR: 'false',
      ...env,
    },
    preload,
  })
  daemons.push(daemon)
  return daemon
}

const allPublished = () =>
  until('everything is published', async () => Object.keys(await countBy(database)).join() === 'PUBLISHED', {
    timeoutMs: 120_000,
    everyMs: 200,
  })

async function verdict() {
  return judge(await stream.messages(), await committedRows(database))
}

const clean = (stored: number) => ({ stored, lost: [], duplicates: [], outOfOrder: [], uninvited: [] })

async function metric(daemon: Daemon, name: string): Promise<number> {
  const { text } = await daemon.get('/metrics')
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.e+]+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

describe('the relay', () => {
  it(`with four relays, ${ROWS} rows, 200 executions, random refusals and a kill -9 in between`, async () => {
    await insertRows(database, { rows: ROWS / 2, executions: 200, prefix: stream.prefix })
    await Promise.all([1, 2, 3, 4].map(() => relay({ TEST_REFUSE_SHARE: '0.04' }, [REFUSE_SOME])))
    await insertRows(database, { rows: ROWS / 2, executions: 200, prefix: stream.prefix, firstEvent: ROWS / 2 + 1 })
    await until('some rows are out', async () => ((await countBy(database))['PUBLISHED'] ?? 0) > 500)
    await daemons[0]!.stop('SIGKILL')
    await allPublished()
    expect(await verdict()).toEqual(clean(ROWS))
    const [refused] = await database.sql<{ rows: number }>(
      'select count(*)::int as rows from noetl.outbox where attempts > 1',
    )
    expect(refused?.rows).toBeGreaterThan(50)
  })

  it.each([
    ['before a publish', 'publish', '0'],
    ['in the middle of publishing', 'publish', '700'],
    ['before settling what was published', 'settle', '0'],
  ])('killed %s, is replaced by another', async (_, at, after) => {
    await insertRows(database, { rows: 2_000, executions: 100, prefix: stream.prefix })
    const victim = await relay({ TEST_SIGNAL: 'SIGKILL', TEST_AT: at, TEST_AFTER: after }, [SIGNAL_AT]).catch(
      () => undefined,
    )
    if (victim !== undefined) expect((await victim.finished).signal).toBe('SIGKILL')
    const heir = await relay()
    await allPublished()
    expect(await verdict()).toEqual(clean(2_000))
    expect(await metric(heir, 'noetl_cp_outbox_lanes_taken_over_total')).toBeGreaterThan(0)
  })

  it('stopped past its lease, loses its lanes, and its late marks change nothing', async () => {
    await insertRows(database, { rows: 3_000, executions: 150, prefix: stream.prefix })
    const zombie = relay({ TEST_SIGNAL: 'SIGSTOP', TEST_AT: 'publish', TEST_AFTER: '400' }, [SIGNAL_AT])
    zombie.catch(() => undefined)
    await until('the first relay hangs in the middle', async () => {
      const { state } = await stream.jsm.streams.info(stream.name)
      return state.messages > 300
    })
    await relay()
    await allPublished()
    const marks = await database.sql<{ outbox_id: string; published_at: string }>(
      'select outbox_id, published_at from noetl.outbox order by 1',
    )
    const hung = await findStopped()
    process.kill(hung, 'SIGCONT')
    const woken = await zombie
    await until(
      'its late marks were turned away',
      async () => (await metric(woken, 'noetl_cp_outbox_fenced_total')) > 0,
    )
    expect(await database.sql('select outbox_id, published_at from noetl.outbox order by 1')).toEqual(marks)
    expect(await verdict()).toEqual(clean(3_000))
  })

  it('finds a lower id that commits after a higher one was settled', async () => {
    await relay()
    await stream.jsm.streams.info(stream.name)
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = (id: number) => ({
      name: 'test',
      text: `insert into noetl.outbox (execution_id, event_id, subject, payload) values (7, ${id}, '${stream.prefix}.a.b.7.0', '{}')`,
    })
    const slow = database.db.tx(async (tx) => {
      await tx.run(insert(1))
      await held
    })
    await until(
      'the slow transaction has its id',
      async () =>
        (await database.sql('select 1 from pg_stat_activity where state = $1', ['idle in transaction'])).length > 0,
    )
    await database.sql(insert(2).text)
    await until('the later row is settled', async () => (await countBy(database))['PUBLISHED'] === 1)
    release()
    await slow
    await allPublished()
    expect((await stream.messages()).map((message) => message.messageId)).toEqual(['7:2', '7:1'])
  })

  it('publishes rows that commit behind its front before the later rows of their execution', async () => {
    await relay()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = (execution: number, id: number) => ({
      name: 'test',
      text: `insert into noetl.outbox (execution_id, event_id, subject, payload) values (${execution}, ${id}, '${stream.prefix}.a.b.${execution}.0', '{}')`,
    })
    let entered: () => void = () => undefined
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const slow = database.db.tx(async (tx) => {
      await tx.run(insert(7, 1))
      entered()
      await held
      await tx.run(insert(7, 2))
    })
    await inside
    await database.sql(insert(8, 1).text)
    await until('the front has passed', async () => (await countBy(database))['PUBLISHED'] === 1)
    // Both become visible at once, one behind the front and one before it.
    release()
    await slow
    await allPublished()
    expect((await stream.messages()).map((message) => message.messageId)).toEqual(['8:1', '7:1', '7:2'])
  })

  it('goes on after NATS links were black-holed and reset', async () => {
    const { hostname, port } = new URL(shared.servers().natsUrl)
    const proxy = await startTcpProxy(hostname, Number(port))
    const daemon = await relay({ NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    for (const [index, fault] of (['blackhole', 'reset', 'refuse'] as const).entries()) {
      await insertRows(database, { rows: 1_000, executions: 50, prefix: stream.prefix, firstEvent: index * 2_000 + 1 })
      if (fault === 'reset') proxy.reset()
      else proxy.setMode(fault)
      await insertRows(database, {
        rows: 1_000,
        executions: 50,
        prefix: stream.prefix,
        firstEvent: index * 2_000 + 1_001,
      })
      if (fault !== 'reset')
        await until('the loss is noticed', async () => (await daemon.get('/readyz')).status === 503)
      proxy.setMode('pass')
      await allPublished()
    }
    await proxy.close()
    expect(await verdict()).toEqual(clean(6_000))
    const attempts = await database.sql('select max(attempts) as most from noetl.outbox')
    expect(attempts).toEqual([{ most: 1 }])
  })

  it('waits while the stream is full or gone, without burning attempts, and keeps the order', async () => {
    await stream.make({ max_msgs: 300, discard: 'new' as never })
    await insertRows(database, { rows: 1_000, executions: 40, prefix: stream.prefix })
    const daemon = await relay()
    await until('the stream is full', async () => (await stream.jsm.streams.info(stream.name)).state.messages === 300)
    await until(
      'the relay has noticed',
      async () => (await metric(daemon, 'noetl_cp_outbox_publish_total\\{outcome="unavailable"\\}')) > 0,
    )
    await stream.jsm.streams.update(stream.name, { max_msgs: -1 })
    await allPublished()
    expect(await verdict()).toEqual(clean(1_000))

    await stream.jsm.streams.delete(stream.name)
    await insertRows(database, { rows: 500, executions: 40, prefix: stream.prefix, firstEvent: 1_001 })
    await until(
      'publishing is refused',
      async () => (await metric(daemon, 'noetl_cp_outbox_publish_total\\{outcome="unavailable"\\}')) > 1,
    )
    await until('the stream is made again', () => stream.jsm.streams.info(stream.name).then(() => true), {
      timeoutMs: 120_000,
    })
    await allPublished()
    const messages = await stream.messages()
    expect(judge(messages, (await committedRows(database)).slice(1_000))).toEqual(clean(500))
    expect(await database.sql('select max(attempts) as most from noetl.outbox')).toEqual([{ most: 1 }])
  })

  it('turns away malicious subjects and sends a reference for what is too large, holding up nobody', async () => {
    const subjects = [
      '>',
      `${stream.prefix}.*`,
      `${stream.prefix}.a..b`,
      `${stream.prefix}.a b`,
      `${stream.prefix}.x\r\nPUB pwned 2\r\nhi`,
      '$JS.API.STREAM.DELETE.X',
      '_INBOX.x',
      'elsewhere.a',
      `${stream.prefix}.${'a'.repeat(1_000_000)}`,
    ]
    for (const [index, subject] of subjects.entries()) {
      await database.sql('insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, $1, $2, $3)', [
        index + 1,
        subject,
        '{}',
      ])
    }
    await database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, 100, $1, jsonb_build_object('event_id', 100, 'blob', repeat('x', 3000000)))`,
      [`${stream.prefix}.a.b.9.0`],
    )
    await database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload) values (9, 101, $1, '{"n": 1}')`,
      [`${stream.prefix}.a.b.9.0`],
    )
    await relay()
    await until('all is settled', async () => {
      const counts = await countBy(database)
      return counts['PUBLISHED'] === 2 && counts['DEAD'] === subjects.length
    })
    const messages = await stream.messages()
    expect(messages.map((message) => message.messageId)).toEqual(['9:100', '9:101'])
    expect(messages[0]!.headers['Noetl-Claim-Check']).toContain('/api/outbox/payload/9/100')
    expect(messages[0]!.body.length).toBeLessThan(1_000)
    expect(messages[1]!.body).toBe('{"n": 1}')
    const dead = await database.sql<{ last_error: string }>(
      `select last_error from noetl.outbox where status = 'DEAD' order by outbox_id`,
    )
    for (const row of dead) expect(row.last_error).toMatch(/subject/)
  })

  it('sends a reference for what is larger than the stream takes, also when that limit is lowered later', async () => {
    const insert = (execution: number, event: number, bytes: number) =>
      database.sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload)
         values ($1::bigint, $2::bigint, $3, jsonb_build_object('event_id', $2::bigint, 'blob', repeat('x', $4::int)))`,
        [execution, event, `${stream.prefix}.a.b.${execution}.0`, bytes],
      )
    await stream.make({ max_msg_size: 10_000 })
    await insert(9, 1, 12_000)
    await insert(9, 2, 5_000)
    await relay()
    await allPublished()
    await stream.jsm.streams.update(stream.name, { max_msg_size: 3_000 })
    await insert(9, 3, 5_000)
    await insert(9, 4, 500)
    await insert(10, 5, 2_000)
    await allPublished()
    const messages = (await stream.messages()).sort((left, right) => Number(left.outboxId) - Number(right.outboxId))
    expect(messages.map(({ messageId, headers }) => [messageId, 'Noetl-Claim-Check' in headers])).toEqual([
      ['9:1', true],
      ['9:2', false],
      ['9:3', true],
      ['9:4', false],
      ['10:5', false],
    ])
    expect(await database.sql('select max(attempts) as most from noetl.outbox')).toEqual([{ most: 1 }])
  })

  it.each([
    ['a subject per execution: each is found in the stream and not sent again', { others: 0, repeated: 0 }],
    ['newer messages on its subject: it is found among them', { others: 1, repeated: 0 }],
    ['too many to look through: what is sent again is counted', { others: 10_001, repeated: 40 }],
  ])('loses acknowledgements for longer than the duplicate window; %s', async (_, { others, repeated }) => {
    const { hostname, port } = new URL(shared.servers().natsUrl)
    const proxy = await startTcpProxy(hostname, Number(port))
    await stream.make({ duplicate_window: 9e9 })
    const daemon = await relay({
      NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      NOETL_EVENT_STREAM_DEDUP_SECS: '9',
    })
    const held = () => database.sql(`select 1 from noetl.lease where kind = 'outbox' and owner is not null`)
    await until('it owns the lanes', async () => (await held()).length === 64)
    proxy.setMode('mute')
    await database.sql(
      `insert into noetl.outbox (execution_id, event_id, subject, payload)
       select n, n, $1 || case when $2 then '.shared' else '.a.b.' || n || '.0' end, '{}' from generate_series(1, 40) n`,
      [stream.prefix, others > 0],
    )
    const state = async () => (await stream.jsm.streams.info(stream.name)).state
    await until('all is stored', async () => (await state()).messages === 40)
    await until('the lanes are given back', async () => (await held()).length === 0, { timeoutMs: 120_000 })
    // Somebody else's message, after which the last one of the subject proves nothing.
    for (let n = 0; n < others; n += 1) stream.connection.publish(`${stream.prefix}.shared`, 'other')
    await until('those of others are stored', async () => (await state()).messages === 40 + others)
    const forgottenAt = Date.parse(String((await state()).last_ts)) + 9_500
    await until('the stream has forgotten the ids', () => Date.now() > forgottenAt, { timeoutMs: 120_000 })
    proxy.setMode('pass')
    await allPublished()
    await proxy.close()
    const ours = (await stream.messages()).filter(({ body }) => body !== 'other')
    const { duplicates, ...rest } = judge(ours, await committedRows(database))
    expect({ ...rest, duplicates: duplicates.length }).toEqual({ ...clean(40), duplicates: repeated })
    expect(await metric(daemon, 'noetl_cp_outbox_possible_duplicates_total')).toBe(repeated)
    // Where it was found counts for the audit like an acknowledgement.
    if (repeated === 0) expect(await database.sql('select 1 from noetl.outbox where stream_seq is null')).toEqual([])
  })

  it('killed with rows on their way, its lanes held and given back by one that sent nothing: none is stored twice', async () => {
    const { hostname, port } = new URL(shared.servers().natsUrl)
    const proxy = await startTcpProxy(hostname, Number(port))
    await stream.make({ duplicate_window: 9e9 })
    const env = { NOETL_EVENT_STREAM_DEDUP_SECS: '9' }
    const first = await relay({ ...env, NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    const held = () => database.sql(`select 1 from noetl.lease where kind = 'outbox' and owner is not null`)
    await until('it owns the lanes', async () => (await held()).length === 64)
    proxy.setMode('mute')
    await insertRows(database, { rows: 40, executions: 40, prefix: stream.prefix })
    const state = async () => (await stream.jsm.streams.info(stream.name)).state
    await until('all is stored', async () => (await state()).messages === 40)
    await first.stop('SIGKILL')
    proxy.setMode('refuse')
    const second = await relay({ ...env, NOETL_NATS_URL: `nats://127.0.0.1:${proxy.port}` })
    const token = async () =>
      (await database.sql<{ most: string }>('select max(token) as most from noetl.lease'))[0]!.most
    await until('the second owns the lanes', async () => Number(await token()) >= 2, { timeoutMs: 60_000 })
    await second.stop()
    expect(await held()).toEqual([])
    const forgottenAt = Date.parse(String((await state()).last_ts)) + 9_500
    await until('the stream has forgotten the ids', () => Date.now() > forgottenAt, { timeoutMs: 120_000 })
    await proxy.close()
    await relay(env)
    await allPublished()
    expect(await verdict()).toEqual(clean(40))
  })

  it('gives its lanes back at once when it stops', async () => {
    const first = await relay({ NOETL_CP_OUTBOX_LEASE: '15' })
    await until(
      'it owns the lanes',
      async () =>
        (await database.sql(`select 1 from noetl.lease where kind = 'outbox' and owner is not null`)).length === 64,
    )
    expect((await first.stop()).code).toBe(0)
    expect(await database.sql(`select 1 from noetl.lease where kind = 'outbox' and owner is not null`)).toEqual([])
  })

  it('shares the lanes between two daemons', async () => {
    await relay()
    await relay()
    await until('each owns half', async () => {
      const rows = await database.sql<{ count: number }>(
        `select count(*)::int as count from noetl.lease where kind = 'outbox' and owner is not null group by owner`,
      )
      return rows.length === 2 && rows.every((row) => row.count === 32)
    })
  })
})

async function findStopped(): Promise<number> {
  const { readdirSync, readFileSync } = await import('node:fs')
  return until('the stopped process is found', () => {
    for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
        if (
          /\) T /.test(stat) &&
          command.includes('signalAt.mjs') &&
          readFileSync(`/proc/${entry}/environ`, 'utf8').includes(database.url)
        )
          return Number(entry)
      } catch {
        // It ended while we looked.
      }
    }
    return undefined
  })
}
