// Promise: two live processes never mint with the same machine id, nobody mints without a lease, and no id comes
// twice, whatever the clocks do: that of a host does not matter, and when the database's was ahead, another machine id
// goes on.
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/db.js'
import { createPool } from '../../src/db/pool.js'
import { statement } from '../../src/db/queries.js'
import { composeSnowflake, decomposeSnowflake } from '../../src/domain/ids/snowflake.js'
import type { Clock } from '../../src/runtime/clock.js'
import { systemClock } from '../../src/runtime/clock.js'
import { idsCheck } from '../../src/services/health/checks.js'
import { createIds, type Ids, type IdsOptions } from '../../src/services/ids/ids.js'
import { cloneDatabase, useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const opened: Ids[] = []
/** Set while a test works on a database with a clock of its own. */
let clockDatabase: Db | undefined
const sqlOn = (text: string) => clockDatabase!.run(statement(text), [])
afterEach(async () => {
  for (const ids of opened.splice(0)) await ids.stop(1_000)
  await database
    .get()
    .sql(`update noetl.lease set owner = null, lease_until = '-infinity', high_water = 0 where kind = 'machine'`)
})

interface Movable extends Clock {
  /** Moves the wall clock, not the monotonic one. */
  shift(ms: number): void
  /** Moves time itself, as a process that was stopped sees it. */
  pass(ms: number): void
}
function movableClock(): Movable {
  let wall = 0
  let both = 0
  return {
    now: () => systemClock.now() + wall + both,
    monotonic: () => systemClock.monotonic() + both,
    sleep: (ms, ...signals) => systemClock.sleep(Math.min(ms, 20), ...signals),
    shift: (ms) => {
      wall += ms
    },
    pass: (ms) => {
      both += ms
    },
  }
}

function open(options: Partial<IdsOptions> & { clock?: Clock; hostName?: string; errors?: string[] } = {}): Ids {
  const ids = createIds(
    { proposed: options.proposed ?? { machineId: 100, explicit: false }, use: options.use ?? 'daemon' },
    {
      db: clockDatabase ?? database.get().db,
      clock: options.clock ?? systemClock,
      random: Math.random,
      owner: `${options.hostName ?? 'host-a'}:${process.pid}:${randomBytes(4).toString('hex')}`,
      onError: (_code, message) => options.errors?.push(message),
    },
  )
  opened.push(ids)
  return ids
}
const sql = <R>(text: string) => database.get().sql<R>(text)

describe('machine ids', () => {
  it('derived from one host name move to the next free one', async () => {
    // Far more at once than there are connections: those that lose many races in a row still get one.
    const many = Array.from({ length: 60 }, () => open())
    await Promise.all(many.map((ids) => ids.start()))
    const machines = many.map((ids) => ids.machineId()!)
    expect(new Set(machines).size).toBe(60)
    expect(Math.min(...machines)).toBe(100)
    expect(many.map((ids) => decomposeSnowflake(BigInt(ids.next())).machineId)).toEqual(machines)
  })
  it('wrap at the end of the range of daemons', async () => {
    const pair = [
      open({ proposed: { machineId: 1007, explicit: false } }),
      open({ proposed: { machineId: 1007, explicit: false } }),
    ]
    for (const ids of pair) await ids.start()
    expect(pair.map((ids) => ids.machineId())).toEqual([1007, 0])
  })
  it('that were configured and are taken refuse the start and name the holder', async () => {
    const explicit = { machineId: 7, explicit: true }
    await open({ proposed: explicit, hostName: 'the-holder' }).start()
    await expect(open({ proposed: explicit }).start()).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/machine id 7 .*the-holder:\d+:/),
    })
  })
  it('of one-shot commands come from their own range, also beside a configured daemon', async () => {
    const many = Array.from({ length: 16 }, () => open({ use: 'oneShot', proposed: { machineId: 7, explicit: true } }))
    await Promise.all(many.map((ids) => ids.start()))
    expect(many.map((ids) => ids.machineId()!).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, n) => 1008 + n),
    )
    await expect(open({ use: 'oneShot' }).start()).rejects.toMatchObject({ code: 'unavailable' })
  })
  it('are given back at a stop, at once', async () => {
    const first = open({ proposed: { machineId: 7, explicit: true } })
    await first.start()
    const last = BigInt(first.next())
    await first.stop(1_000)
    expect(() => first.next()).toThrow(/no ids/)
    const second = open({ proposed: { machineId: 7, explicit: true } })
    await second.start()
    expect(BigInt(second.next())).toBeGreaterThan(last)
  })
})

describe('a lost lease', () => {
  it('stops the minting, and another machine id is taken', async () => {
    const clock = movableClock()
    const errors: string[] = []
    const ids = open({ clock, errors })
    await ids.start()
    const before = BigInt(ids.next())
    await sql(
      `update noetl.lease set owner = 'thief', token = token + 1, lease_until = now() + interval '1 hour' where kind = 'machine' and slot = 100`,
    )
    await until('another one is taken', () => ids.machineId() !== undefined && ids.machineId() !== 100)
    expect(errors.join()).toContain('lost machine id 100')
    const after = BigInt(ids.next())
    expect(decomposeSnowflake(after).machineId).toBe(101)
    expect(after).toBeGreaterThan(before)
  })
  it('is noticed without the database: no ids after the time is over', async () => {
    const clock = movableClock()
    const ids = open({ clock })
    await ids.start()
    await ids.stop(1) // the loop no longer renews; what is left is the time that was given
    const silent = open({ clock: { ...clock, sleep: () => new Promise(() => undefined) } })
    opened.pop()
    await silent.start()
    expect(silent.next()).toMatch(/^\d+$/)
    clock.pass(29_000)
    expect(() => silent.next()).toThrow(/lease of machine id \d+ could not be renewed/)
  })
  it('that nobody can renew for a while comes back by itself', async () => {
    const clock = movableClock()
    const ids = open({ clock })
    await ids.start()
    clock.pass(29_000)
    await until('the renewal has come', () => {
      try {
        return ids.next()
      } catch {
        return false
      }
    })
  })
})

// The functions that say what time it is, found before the server's own: a database whose clock can be set.
async function withDatabaseClock<T>(work: (setTo: (offset: string) => Promise<unknown>) => Promise<T>): Promise<T> {
  const { servers } = database
  const own = await cloneDatabase(servers())
  await own.sql(`create schema shifted`)
  await own.sql(`create table shifted.clock (ahead interval not null)`)
  await own.sql(`insert into shifted.clock values ('0')`)
  for (const name of ['now', 'clock_timestamp']) {
    await own.sql(
      `create function shifted.${name}() returns timestamptz language sql volatile
       as $$ select pg_catalog.${name}() + ahead from shifted.clock $$`,
    )
  }
  await own.sql(
    `do $$ begin execute format('alter database %I set search_path = shifted, pg_catalog, public', current_database()); end $$`,
  )
  const db = createPool({ ...own.settings, max: 4, acquireTimeoutMs: 10_000, queryTimeoutMs: 30_000 })
  clockDatabase = db
  try {
    return await work((offset) => own.sql(`update shifted.clock set ahead = $1::interval`, [offset]))
  } finally {
    for (const ids of opened.splice(0)) await ids.stop(1_000)
    clockDatabase = undefined
    await db.close(2_000)
    await own.drop()
  }
}

const aheadOf = (id: string): number => decomposeSnowflake(BigInt(id)).unixMs - systemClock.now()

describe('the clock of this host', () => {
  it.each([-3_600_000, -20_000, 20_000, 3_600_000])('off by %i ms does not show in the ids', async (ms) => {
    const clock = movableClock()
    clock.shift(ms)
    const ids = open({ clock })
    await ids.start()
    expect(Math.abs(aheadOf(ids.next()))).toBeLessThan(5_000)
  })
  it('an hour ahead for a moment stops nothing, then or later', async () => {
    const clock = movableClock()
    const ids = open({ clock })
    await ids.start()
    const minted = [ids.next()]
    clock.shift(3_600_000)
    minted.push(ids.next())
    clock.shift(-3_600_000)
    minted.push(ids.next())
    expect(minted.map(BigInt)).toEqual(minted.map(BigInt).sort((a, b) => (a < b ? -1 : 1)))
    expect(ids.machineId()).toBe(100)
    expect(() => ids.assertMinting()).not.toThrow()
  })
})

describe('a machine id whose holder was killed', () => {
  it('mints above the end of that lease, however slow the clock of the next host is', async () => {
    // Renewed 31 s ago: until a second ago the holder may have minted, and nobody was told.
    const told = composeSnowflake(Math.floor(systemClock.now()) - 31_000, 7, 0)
    await sql(
      `update noetl.lease set owner = 'killed', lease_until = now() - interval '1 second', high_water = ${told} where kind = 'machine' and slot = 7`,
    )
    const clock = movableClock()
    clock.shift(-20_000)
    const ids = open({ clock, proposed: { machineId: 7, explicit: true } })
    await ids.start()
    expect(aheadOf(ids.next())).toBeGreaterThan(-1_500)
  })
  it('never mints beyond its own lease, where the next holder begins', async () => {
    const clock = movableClock()
    const ids = open({ clock: { ...clock, sleep: () => new Promise(() => undefined) } })
    opened.pop()
    await ids.start()
    const [lease] = await sql<{ ends: string }>(
      `select (extract(epoch from lease_until) * 1000)::bigint as ends from noetl.lease where kind = 'machine' and slot = 100`,
    )
    // The others are as far ahead as is followed, again and again, and the database is away for nearly the whole lease.
    for (const passed of [6_000, 6_000, 6_000, 6_000]) {
      clock.pass(passed)
      const seen = decomposeSnowflake(BigInt(ids.next())).unixMs + 9_000
      const id = attempt(() => ids.above(composeSnowflake(seen, 1, 1)))
      if (id !== undefined)
        expect(decomposeSnowflake(BigInt(id)).unixMs).toBeLessThanOrEqual(Number(lease!.ends) + 9_000)
      const next = attempt(() => ids.next())
      if (next !== undefined) expect(decomposeSnowflake(BigInt(next)).unixMs).toBeLessThanOrEqual(Number(lease!.ends))
    }
  })
})

function attempt(mint: () => string): string | undefined {
  try {
    return mint()
  } catch {
    return undefined
  }
}

const codeOf = (error: unknown) => (error as { code?: string }).code

describe('the clock of the database', () => {
  it('an hour ahead for a moment: another machine id goes on at once, and no id comes twice', async () => {
    await withDatabaseClock(async (setTo) => {
      const errors: string[] = []
      const ids = open({ clock: movableClock(), errors })
      await ids.start()
      expect(Math.abs(aheadOf(ids.next()))).toBeLessThan(5_000)
      await setTo('1 hour')
      const ahead = await until('the ids follow', () => {
        const id = ids.next()
        return aheadOf(id) > 3_500_000 && id
      })
      await setTo('0')
      await until('another machine id is taken', () => ids.machineId() === 101)
      expect(errors.join()).toContain('leaving machine id 100')
      expect(Math.abs(aheadOf(ids.next()))).toBeLessThan(5_000)
      expect(() => ids.assertMinting()).not.toThrow()
      // Whoever takes the old one later is kept from its past.
      const other = open()
      await other.start()
      expect(other.machineId()).not.toBe(100)
      expect(BigInt(ahead)).toBeGreaterThan(BigInt(other.next()))
    })
  })
  it('an hour ahead for a moment, with a configured machine id: no ids, and the health check says what to do', async () => {
    await withDatabaseClock(async (setTo) => {
      const ids = open({ clock: movableClock(), proposed: { machineId: 7, explicit: true } })
      await ids.start()
      const check = idsCheck(ids)
      expect(await check.run(1_000)).toBe('machine id 7')
      await setTo('1 hour')
      await until('the ids follow', () => aheadOf(ids.next()) > 3_500_000)
      await setTo('0')
      await until('the check is red', async () => {
        const reason = await check.run(1_000).catch((error: Error) => error.message)
        return /machine id 7 lies 3\d{3} s ahead .*NOETL_SERVER_MACHINE_ID/.test(reason)
      })
      expect(() => ids.next()).toThrow(/no ids/)
      const refusal = () =>
        open({ proposed: { machineId: 7, explicit: true } })
          .start()
          .then(() => 'taken', codeOf)
      // The daemon that lost it tries again and again; whoever comes while it holds it is told that it is taken.
      await until('the next one is told why', async () => (await refusal()) === 'unavailable')
    })
  })
  it('set back by a few seconds over a restart: the ids go on above the highest', async () => {
    await withDatabaseClock(async (setTo) => {
      const first = open({ proposed: { machineId: 7, explicit: true } })
      await first.start()
      const minted = Array.from({ length: 10 }, () => first.next())
      await first.stop(1_000)
      await setTo('-9 seconds')
      await sqlOn(`update noetl.lease set lease_until = now() - interval '1 second' where kind = 'machine'`)
      const second = open({ proposed: { machineId: 7, explicit: true } })
      await second.start()
      expect(BigInt(second.next())).toBeGreaterThan(BigInt(minted[9]!))
    })
  })
})
