// Promise: two live processes never mint with the same machine id, nobody mints without a lease, and no id comes
// twice or goes backwards, not even after a restart with a clock that was set back.
import { afterEach, describe, expect, it } from 'vitest'
import { composeSnowflake, decomposeSnowflake } from '../../src/domain/snowflake.js'
import type { Clock } from '../../src/runtime/clock.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createIds, type Ids, type IdsOptions } from '../../src/services/ids.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
const opened: Ids[] = []
afterEach(async () => {
  for (const ids of opened.splice(0)) await ids.stop(1_000)
  await database.get().sql('delete from noetl.machine_lease')
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
      db: database.get().db,
      clock: options.clock ?? systemClock,
      random: Math.random,
      hostName: options.hostName ?? 'host-a',
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
      `update noetl.machine_lease set holder = 'thief', token = token + 1, expires_at = now() + interval '1 hour'`,
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
    clock.pass(26_000)
    expect(() => silent.next()).toThrow(/lease of machine id \d+ could not be renewed/)
  })
  it('that nobody can renew for a while comes back by itself', async () => {
    const clock = movableClock()
    const ids = open({ clock })
    await ids.start()
    clock.pass(27_000)
    await until('the renewal has come', () => {
      try {
        return ids.next()
      } catch {
        return false
      }
    })
  })
})

describe('the clock', () => {
  it('set back a little while running is absorbed, set back a lot is refused', async () => {
    const clock = movableClock()
    const ids = open({ clock })
    await ids.start()
    const first = BigInt(ids.next())
    clock.shift(-5_000)
    const second = BigInt(ids.next())
    expect(second).toBeGreaterThan(first)
    clock.shift(-60_000)
    expect(() => ids.next()).toThrow(/fell back/)
    clock.shift(65_000)
    expect(BigInt(ids.next())).toBeGreaterThan(second)
  })
  it.each([2_000, 9_000])('set back by %i ms over a restart: the ids go on above the highest', async (ms) => {
    const clock = movableClock()
    const first = open({ clock, proposed: { machineId: 7, explicit: true } })
    await first.start()
    const minted = first.nextMany(10)
    await first.stop(1_000)
    clock.shift(-ms)
    const second = open({ clock, proposed: { machineId: 7, explicit: true } })
    await second.start()
    expect(BigInt(second.next())).toBeGreaterThan(BigInt(minted[9]!))
  })
  it('set back by an hour over a restart: no ids, and the reason in words', async () => {
    const clock = movableClock()
    const first = open({ clock, proposed: { machineId: 7, explicit: true } })
    await first.start()
    const last = BigInt(first.next())
    await first.stop(1_000)
    clock.shift(-3_600_000)
    const second = open({ clock, proposed: { machineId: 7, explicit: true } })
    await expect(second.start()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/clock .*behind.*machine id 7/),
    })
    expect(() => second.next()).toThrow(/no ids/)
    clock.shift(3_600_000)
    await second.start()
    expect(BigInt(second.next())).toBeGreaterThan(last)
  })
  it('set back by an hour stops a derived machine id as well: another one would mint old ids', async () => {
    const clock = movableClock()
    const first = open({ clock })
    await first.start()
    first.next()
    await first.stop(1_000)
    clock.shift(-3_600_000)
    await expect(open({ clock }).start()).rejects.toMatchObject({
      message: expect.stringContaining('correct the clock'),
    })
    const [row] = await sql('select count(*)::int as held from noetl.machine_lease where expires_at > now()')
    expect(row).toEqual({ held: 0 })
  })
  it('of an earlier holder that ran far ahead is no reason to follow it into the future', async () => {
    const future = composeSnowflake(systemClock.now() + 3_600_000, 7, 0)
    await sql(
      `insert into noetl.machine_lease (machine_id, holder, expires_at, high_water) values (7, 'gone', now() - interval '1 hour', ${future})`,
    )
    await expect(open({ proposed: { machineId: 7, explicit: true } }).start()).rejects.toMatchObject({
      code: 'unavailable',
    })
    // An id that is only derived moves on to one without that past.
    const derived = open({ proposed: { machineId: 7, explicit: false } })
    await derived.start()
    expect(derived.machineId()).toBe(8)
  })
})
