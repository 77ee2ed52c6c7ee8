// Promise: a call waits for a connection only so long and only in a queue of bounded length; transactions are
// all or nothing, keep their first error, and are run again after a deadlock; closing ends within its deadline.
import { afterEach, describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/db.js'
import { createPool, type PoolSettings } from '../../src/db/pool.js'
import { statement } from '../../src/db/queries.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const pools: Db[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close(200)))
})

function open(settings: Partial<PoolSettings> = {}): Db {
  const pool = createPool({
    ...database.get().settings,
    max: 2,
    acquireTimeoutMs: 300,
    queryTimeoutMs: 5_000,
    ...settings,
  })
  pools.push(pool)
  return pool
}

const sleep = (seconds: number) => statement(`select pg_sleep(${seconds})`)
const SELECT_1 = statement('select 1 as one')

describe('waiting for a connection', () => {
  it('ends with "overloaded" and the setting to raise', async () => {
    const pool = open()
    const busy = [pool.run(sleep(1)), pool.run(sleep(1))]
    await expect(pool.run(SELECT_1)).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(/within 300 ms; raise POSTGRES_MAX_CONNECTIONS \(now 2\)/),
    })
    expect(pool.stats()).toEqual({ open: 2, inUse: 2, waiting: 0 })
    await Promise.all(busy)
  })
  it('is bounded in length', async () => {
    const pool = open({ max: 1, acquireTimeoutMs: 60_000, queryTimeoutMs: 60_000 })
    const busy = pool.run(sleep(0.3))
    const waiting = Array.from({ length: 2_000 }, () => pool.run(SELECT_1))
    await expect(pool.run(SELECT_1)).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringContaining('2000'),
    })
    await busy
    expect((await Promise.all(waiting)).every((rows) => rows[0]!['one'] === 1)).toBe(true)
    expect(pool.stats()).toEqual({ open: 1, inUse: 0, waiting: 0 })
  })
  it('and running share one deadline', async () => {
    const pool = open({ max: 1, acquireTimeoutMs: 5_000 })
    let leastMs = Number.POSITIVE_INFINITY
    // One after the other they would take 3.5 s. A busy machine only adds: one try in time is enough.
    for (let tries = 0; tries < 4 && leastMs >= 3_400; tries++) {
      const busy = pool.run(sleep(1.5))
      const started = performance.now()
      await expect(pool.run(sleep(60), [], { deadlineMs: 2_000 })).rejects.toMatchObject({ code: 'timeout' })
      leastMs = Math.min(leastMs, performance.now() - started)
      await busy
    }
    expect(leastMs).toBeLessThan(3_400)
  })
  it('is fair: first come, first served', async () => {
    const pool = open({ max: 1, acquireTimeoutMs: 5_000 })
    const order: number[] = []
    await Promise.all([0, 1, 2, 3, 4].map((index) => pool.run(SELECT_1).then(() => order.push(index))))
    expect(order).toEqual([0, 1, 2, 3, 4])
  })
})

describe('a deadline', () => {
  it('may be longer than the ordinary one: the server does not cut it first', async () => {
    const pool = open({ statementTimeoutMs: 300, queryTimeoutMs: 300 })
    await expect(pool.run(sleep(1))).rejects.toMatchObject({ code: 'timeout' })
    await expect(pool.run(sleep(0.6), [], { deadlineMs: 5_000 })).resolves.toHaveLength(1)
    await pool.tx(async (tx) => {
      await tx.run(sleep(0.6), [], { deadlineMs: 5_000 })
    })
    // The ordinary limit is back afterwards.
    await expect(pool.run(statement("select current_setting('statement_timeout') as limit"))).resolves.toEqual([
      { limit: '300ms' },
    ])
    await expect(pool.run(sleep(1))).rejects.toMatchObject({ code: 'timeout' })
  })
  it('that passed leaves nothing running on the server', async () => {
    const pool = open({ statementTimeoutMs: 1_000, queryTimeoutMs: 500 })
    await expect(pool.run(statement('select pg_sleep(60) as cut_me'))).rejects.toMatchObject({ code: 'timeout' })
    await until('the server gave up, too', async () => {
      const rows = await database
        .get()
        .sql(
          "select from pg_stat_activity where query like '%cut\\_me%' and state = 'active' and pid <> pg_backend_pid()",
        )
      return rows.length === 0
    })
  })
})

describe('a transaction', () => {
  const fresh = async (name: string) => {
    await database.get().sql(`drop table if exists ${name}`)
    await database.get().sql(`create table ${name} (id int primary key, n int not null default 0)`)
  }
  const count = async (name: string) =>
    (await database.get().sql<{ n: number }>(`select count(*)::int as n from ${name}`))[0]!.n

  it('commits everything or nothing, and gives the first error back', async () => {
    await fresh('t_all')
    const pool = open()
    await pool.tx(async (tx) => {
      await tx.run(statement('insert into t_all values (1)'))
      await tx.run(statement('insert into t_all values (2)'))
    })
    const failing = pool.tx(async (tx) => {
      await tx.run(statement('insert into t_all values (3)'))
      await tx.run(statement('insert into t_all values (1)')).catch(async (first: unknown) => {
        // What follows fails because of the first error; that is not the one to report.
        await tx.run(SELECT_1).catch(() => undefined)
        throw first
      })
    })
    await expect(failing).rejects.toMatchObject({
      code: 'conflict',
      details: { sqlstate: '23505', constraint: 't_all_pkey' },
    })
    const thrown = new Error('mine')
    await expect(
      pool.tx(async (tx) => {
        await tx.run(statement('insert into t_all values (4)'))
        throw thrown
      }),
    ).rejects.toBe(thrown)
    expect(await count('t_all')).toBe(2)
    expect(pool.stats()).toEqual({ open: 1, inUse: 0, waiting: 0 })
  })
  it('that swallowed an error of its own is not reported as committed', async () => {
    await fresh('t_swallow')
    await expect(
      open().tx(async (tx) => {
        await tx.run(statement('insert into t_swallow values (1)'))
        await tx.run(statement('select 1/0')).catch(() => undefined)
      }),
    ).rejects.toThrow()
    expect(await count('t_swallow')).toBe(0)
  })
  it('is run again as a whole after a deadlock', async () => {
    await fresh('t_lock')
    await database.get().sql('insert into t_lock values (1), (2)')
    const pool = open({ acquireTimeoutMs: 5_000 })
    let tries = 0
    let met = 0
    let meet: () => void = () => undefined
    const both = new Promise<void>((resolve) => {
      meet = resolve
    })
    const add = (first: number, second: number) =>
      pool.tx(async (tx) => {
        tries += 1
        await tx.run({ name: 'test', text: 'update t_lock set n = n + 1 where id = $1' }, [first])
        met += 1
        if (met === 2) meet()
        await both
        await tx.run({ name: 'test', text: 'update t_lock set n = n + 1 where id = $1' }, [second])
      })
    await Promise.all([add(1, 2), add(2, 1)])
    // One of them at least; the server chooses whom, and may choose again.
    expect(tries).toBeGreaterThan(2)
    expect(await database.get().sql('select id, n from t_lock order by id')).toEqual([
      { id: 1, n: 2 },
      { id: 2, n: 2 },
    ])
  })
  it('may be read only and see one snapshot', async () => {
    await fresh('t_read')
    const pool = open()
    await pool.tx(
      async (tx) => {
        const before = await tx.run<{ n: string }>(statement('select count(*) as n from t_read'))
        await database.get().sql('insert into t_read values (1)')
        const after = await tx.run<{ n: string }>(statement('select count(*) as n from t_read'))
        expect(after).toEqual(before)
      },
      { isolation: 'repeatable read', readOnly: true },
    )
    await expect(
      pool.tx((tx) => tx.run(statement('insert into t_read values (9)')), { readOnly: true }),
    ).rejects.toThrow(/read-only/)
  })
})

describe('closing', () => {
  it('waits for what runs, refuses what comes, and cuts what does not end', async () => {
    const pool = open({ acquireTimeoutMs: 5_000 })
    const short = pool.run(sleep(0.2))
    const closing = pool.close(3_000)
    await expect(pool.run(SELECT_1)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(short).resolves.toHaveLength(1)
    await closing

    const stuck = open({ max: 1, acquireTimeoutMs: 5_000 })
    const long = expect(stuck.run(sleep(20), [], { deadlineMs: 30_000 })).rejects.toMatchObject({ code: 'unavailable' })
    const waiting = expect(stuck.run(SELECT_1)).rejects.toMatchObject({ code: 'unavailable' })
    await until('it runs', () => stuck.stats().inUse === 1)
    await stuck.close(100)
    await Promise.all([long, waiting])
  })
})

describe('errors', () => {
  it.each([
    ['select * from noetl.nonsense', 'schema_mismatch'],
    ['select nonsense from noetl.event', 'schema_mismatch'],
    ["select 'x'::int", 'invalid_input'],
    ["select '99999999999'::int", 'invalid_input'],
    ['syntax error', 'internal'],
  ])('%s is %s', async (text, code) => {
    await expect(open().run({ name: 'test', text })).rejects.toMatchObject({ code })
  })
  it('of a wrong password or an unknown database say so without the password', async () => {
    const { target } = database.get().settings
    for (const changed of [{ password: 'hunter2' }, { database: 'nowhere' }]) {
      const error = await open({ target: { ...target, ...changed } })
        .run(SELECT_1)
        .catch((thrown: Error) => thrown)
      expect(error).toMatchObject({ code: 'unavailable' })
      expect(String((error as Error).message)).not.toContain('hunter2')
    }
  })
  it('of a refused connection name the database and ask the right question', async () => {
    const { target } = database.get().settings
    await expect(open({ target: { ...target, port: 1 } }).run(SELECT_1)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cannot reach the database 127\.0\.0\.1:1\/.*is it running\?/),
    })
  })
})
