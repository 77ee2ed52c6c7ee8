// Promise: whatever happens to the link or the server, a call ends within its deadline with a code, nothing
// crashes the process, nothing of a lost transaction runs outside it, and the pool heals by itself.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import type { Db } from '../../src/db/db.js'
import { createListener } from '../../src/db/listen.js'
import { createPool, type PoolSettings } from '../../src/db/pool.js'
import { statement } from '../../src/db/queries.js'
import type { CpError } from '../../src/errors.js'
import { systemClock } from '../../src/runtime/clock.js'
import { useDatabase } from '../support/database.js'
import { signalTree } from '../support/processes.js'
import { startServers, type TestServers } from '../support/servers.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const database = useDatabase()
let proxy: TcpProxy
const pools: Db[] = []
const crashes: unknown[] = []
const onCrash = (error: unknown) => crashes.push(error)

beforeAll(async () => {
  process.on('uncaughtException', onCrash)
  process.on('unhandledRejection', onCrash)
  const { target } = database.get().settings
  proxy = await startTcpProxy(target.host, target.port)
  await database.get().sql('create table marks (mark text)')
})
afterEach(async () => {
  proxy.setMode('pass')
  await Promise.all(pools.splice(0).map((pool) => pool.close(200)))
  expect(crashes).toEqual([])
})
afterAll(async () => {
  process.off('uncaughtException', onCrash)
  process.off('unhandledRejection', onCrash)
  await proxy.close()
})

const SELECT_1 = statement('select 1 as one')
const DEADLINE_MS = 800
/** Slow machines included; without a deadline of ours these calls never end. */
const GENEROUS_MS = 15_000

function throughProxy(settings: Partial<PoolSettings> = {}): Db {
  const base = database.get().settings
  const pool = createPool({
    ...base,
    target: { ...base.target, port: proxy.port },
    max: 3,
    acquireTimeoutMs: 2_000,
    connectTimeoutMs: 2_000,
    queryTimeoutMs: DEADLINE_MS,
    ...settings,
  })
  pools.push(pool)
  return pool
}

async function failsInTime(work: Promise<unknown>, codes: string[]): Promise<CpError> {
  const started = performance.now()
  const error = await work.then(
    () => {
      throw new Error('expected a failure')
    },
    (thrown: CpError) => thrown,
  )
  expect(codes).toContain(error.code)
  expect(performance.now() - started).toBeLessThan(GENEROUS_MS)
  return error
}

const heals = (pool: Db) => until('the pool is well again', async () => (await pool.run(SELECT_1)).length === 1)
const marks = async (mark: string) =>
  (await database.get().sql<{ n: number }>('select count(*)::int as n from marks where mark = $1', [mark]))[0]!.n
const insert = (mark: string) => statement(`insert into marks values ('${mark}')`)

describe('a new connection that is cut before it is ready', () => {
  it.each(['acceptThenClose', 'refuse'] as const)(
    '(%s) fails a call with a long deadline at once, too',
    async (mode) => {
      const base = database.get().settings
      proxy.setMode(mode)
      // Longer than the limit of a statement, which must therefore be lifted first.
      const connection = createConnection({
        ...base,
        target: { ...base.target, port: proxy.port },
        connectTimeoutMs: 2_000,
        statementTimeoutMs: 1_000,
      })
      await expect(connection.run(SELECT_1, [], 3_600_000)).rejects.toMatchObject({ code: 'unavailable' })
      expect(connection.isBroken()).toBe(true)
    },
    30_000,
  )
})

describe('a black-holed link', () => {
  it('under an idle pool, a query, a transaction and a new connection: each ends at its deadline', async () => {
    const pool = throughProxy()
    await pool.run(SELECT_1)
    proxy.setMode('blackhole')
    await failsInTime(pool.run(SELECT_1), ['timeout'])
    await failsInTime(pool.run(SELECT_1), ['timeout', 'unavailable'])
    await failsInTime(
      pool.tx((tx) => tx.run(SELECT_1)),
      ['timeout', 'unavailable'],
    )
    expect(pool.stats().inUse).toBe(0)
    proxy.setMode('pass')
    await heals(pool)
  })
  it('in the middle of a transaction loses it as a whole', async () => {
    const pool = throughProxy()
    await failsInTime(
      pool.tx(async (tx) => {
        await tx.run(insert('hole'))
        proxy.setMode('blackhole')
        await tx.run(insert('hole')).catch(() => undefined)
        // The link is gone: this must not find another one.
        proxy.setMode('pass')
        await tx.run(insert('hole'))
      }),
      ['timeout', 'unavailable'],
    )
    await heals(pool)
    expect(await marks('hole')).toBe(0)
  })
  it('fills the pool, and the callers behind it are told in time', async () => {
    const pool = throughProxy({ acquireTimeoutMs: 500 })
    proxy.setMode('blackhole')
    const calls = Array.from({ length: 20 }, () =>
      failsInTime(pool.run(SELECT_1), ['timeout', 'unavailable', 'overloaded']),
    )
    await Promise.all(calls)
    proxy.setMode('pass')
    await heals(pool)
  })
})

describe('a link that breaks', () => {
  it('accepted and closed at once: no silent retries, an error in time', async () => {
    const pool = throughProxy()
    proxy.setMode('acceptThenClose')
    const error = await failsInTime(pool.run(SELECT_1), ['unavailable'])
    expect(error.message).toContain('cannot reach the database')
    proxy.setMode('pass')
    await heals(pool)
  })
  it('refused', async () => {
    const pool = throughProxy()
    proxy.setMode('refuse')
    await failsInTime(pool.run(SELECT_1), ['unavailable'])
    proxy.setMode('pass')
    await heals(pool)
  })
  it('reset in the middle of a query', async () => {
    const pool = throughProxy({ queryTimeoutMs: 10_000 })
    const running = failsInTime(pool.run(statement('select pg_sleep(5)')), ['unavailable'])
    await until('it runs', () => proxy.connections() > 0)
    proxy.reset()
    await running
    await heals(pool)
  })
  it('reset in the middle of a transaction: nothing after it runs on its own, and the rest of the pool is well', async () => {
    const pool = throughProxy({ queryTimeoutMs: 10_000 })
    await pool.tx((tx) => tx.run(insert('before')))
    const lost = pool.tx(async (tx) => {
      await tx.run(insert('lost'))
      proxy.reset()
      for (let index = 0; index < 5; index++) await tx.run(insert('lost')).catch(() => undefined)
      // Not awaited one by one: queued statements must die with the link, too.
      await Promise.allSettled([tx.run(insert('lost')), tx.run(insert('lost'))])
    })
    await failsInTime(lost, ['unavailable'])
    await heals(pool)
    expect(await marks('before')).toBe(1)
    expect(await marks('lost')).toBe(0)
  })
  it('reset with many statements on their way', async () => {
    const pool = throughProxy({ queryTimeoutMs: 10_000 })
    await pool.run(SELECT_1)
    const lost = pool.tx(async (tx) => {
      const calls = Array.from({ length: 50 }, () => tx.run(insert('pipelined')))
      setImmediate(() => proxy.reset())
      await Promise.all(calls)
      await tx.run(statement('select pg_sleep(2)'))
    })
    await failsInTime(lost, ['unavailable'])
    await heals(pool)
    expect(await marks('pipelined')).toBe(0)
  })
})

describe('an administrator who terminates our backends', () => {
  const terminate = (pool: string) =>
    database
      .get()
      .sql<{ n: number }>(
        'select count(pg_terminate_backend(pid))::int as n from pg_stat_activity where application_name = $1 and datname = current_database()',
        [pool],
      )
  it('while they are idle: the next call works', async () => {
    const pool = throughProxy({ applicationName: 'idle ones', queryTimeoutMs: 5_000 })
    await Promise.all([1, 2, 3].map(() => pool.run(statement('select pg_sleep(0.1)'))))
    expect((await terminate('idle ones'))[0]!.n).toBe(3)
    await heals(pool)
    await Promise.all([1, 2, 3].map(() => heals(pool)))
    expect(pool.stats().open).toBeLessThanOrEqual(3)
  })
  it('in a query and in a transaction: both fail, nothing is written, the pool heals', async () => {
    const pool = throughProxy({ applicationName: 'busy ones', queryTimeoutMs: 10_000 })
    const query = failsInTime(pool.run(statement('select pg_sleep(5)')), ['unavailable'])
    const transaction = failsInTime(
      pool.tx(async (tx) => {
        await tx.run(insert('terminated'))
        await tx.run(statement('select pg_sleep(5)'))
      }),
      ['unavailable'],
    )
    await until(
      'both run',
      async () =>
        (
          await database
            .get()
            .sql("select from pg_stat_activity where application_name = 'busy ones' and wait_event = 'PgSleep'")
        ).length === 2,
    )
    await terminate('busy ones')
    await Promise.all([query, transaction])
    await heals(pool)
    expect(await marks('terminated')).toBe(0)
  })
})

describe('a listener', () => {
  it('hints after every connect, hears notifications, and comes back from a termination and a reset', async () => {
    const base = database.get().settings
    const hints: (string | undefined)[] = []
    const errors: CpError[] = []
    const listener = createListener({
      settings: { ...base, target: { ...base.target, port: proxy.port }, applicationName: 'listener' },
      channel: 'test_hints',
      clock: systemClock,
      onHint: (payload) => hints.push(payload),
      onError: (error) => errors.push(error),
    })
    await listener.start()
    await until('it listens', () => listener.isListening())
    expect(hints).toEqual([undefined])
    await database.get().sql("select pg_notify('test_hints', 'seven')")
    await until('the notification is heard', () => hints.includes('seven'))

    await database
      .get()
      .sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'")
    await until('it hints again', () => hints.filter((hint) => hint === undefined).length === 2)
    expect(errors[0]!.code).toBe('unavailable')

    proxy.reset()
    await until('and again', () => hints.filter((hint) => hint === undefined).length === 3)
    await database.get().sql("select pg_notify('test_hints', 'eight')")
    await until('it hears again', () => hints.includes('eight'))
    await listener.stop(1_000)
    expect(listener.isListening()).toBe(false)
  })
})

describe('a stopped Postgres (SIGSTOP)', () => {
  let own: { servers: TestServers; stop(): Promise<void> }
  beforeAll(async () => {
    own = await startServers()
  })
  afterAll(() => own.stop())

  it('ends calls at their deadlines and everything is well after SIGCONT', async () => {
    const { adminSettings } = await import('../support/database.js')
    const settings = adminSettings(own.servers)
    const pool = createPool({ ...settings, max: 3, acquireTimeoutMs: 1_000, queryTimeoutMs: DEADLINE_MS })
    pools.push(pool)
    await pool.run(SELECT_1)
    signalTree(own.servers.postgresPid, 'SIGSTOP')
    try {
      await failsInTime(pool.run(SELECT_1), ['timeout'])
      await failsInTime(
        pool.tx((tx) => tx.run(SELECT_1)),
        ['timeout', 'unavailable'],
      )
      const direct = createConnection({ ...settings, connectTimeoutMs: 500 })
      await failsInTime(direct.run(SELECT_1, [], 3_000), ['unavailable', 'timeout'])
      direct.discard()
    } finally {
      signalTree(own.servers.postgresPid, 'SIGCONT')
    }
    await heals(pool)
  })
})
