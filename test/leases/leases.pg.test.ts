// Promises of leases: a slot has one holder at a time by the database's clock, live members share evenly, what a
// vanished member held is taken over, and a lane is the same number in SQL and in TypeScript.
import { describe, expect, it } from 'vitest'
import { LANES, laneOf } from '../../src/domain/leases/lane.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { createLeaseKeeper, type LeaseKeeper } from '../../src/services/leases/leaseKeeper.js'
import { createMembership } from '../../src/services/leases/membership.js'
import { prepareLeases, type TakenLease } from '../../src/stores/leases/leaseStore.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let passedMs = 0
/** The tests move time on instead of waiting: beats become due, trust runs out. */
const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs }
const BEAT_MS = 1_000

interface TestKeeper extends LeaseKeeper {
  taken: TakenLease[]
  lost: number[]
}

function keeper(kind: string, owner: string, options: { leaseMs?: number; isEmpty?: () => boolean } = {}): TestKeeper {
  const { db } = database.get()
  const membership = createMembership({ db, clock, id: owner, kind: 'daemon' })
  const taken: TakenLease[] = []
  const lost: number[] = []
  const held = createLeaseKeeper({
    db,
    clock,
    kind,
    slots: LANES,
    owner,
    leaseMs: options.leaseMs ?? 60_000,
    share: { membership, describe: () => ({ lanes: held.held().length }) },
    onTaken: (some) => taken.push(...some),
    onLost: (some) => lost.push(...some),
    ...(options.isEmpty === undefined ? {} : { isEmpty: options.isEmpty }),
  })
  return { ...held, taken, lost }
}

async function settle(keepers: readonly LeaseKeeper[]): Promise<number[]> {
  // The first pass makes everybody known, the second gives back, the third takes.
  for (let pass = 0; pass < 3; pass++) {
    for (const one of keepers) await one.runOnce()
    passedMs += BEAT_MS
  }
  for (const one of keepers) await one.runOnce()
  return keepers.map((one) => one.held().length).sort((a, b) => b - a)
}

describe('lanes', () => {
  it('are the same in SQL and in TypeScript', async () => {
    const ids = ['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '380600494935949312']
    for (let n = 0n; n < 500n; n++) ids.push(((n * 0x9e3779b97f4a7c15n) % 2n ** 63n).toString())
    const rows = await database
      .get()
      .sql<{ id: string; lane: number }>(
        'select id::text as id, noetl.lane_of(id) as lane from unnest($1::bigint[]) id',
        [ids],
      )
    expect(rows.map(({ id, lane }) => [id, lane])).toEqual(ids.map((id) => [id, laneOf(id)]))
  })
})

describe('members', () => {
  it('share as evenly as they can, and take over from one that leaves', async () => {
    await prepareLeases(database.get().db, 'even', LANES.length)
    const seven = Array.from({ length: 7 }, (_, n) => keeper('even', `even-${n}`))
    expect(await settle(seven)).toEqual([10, 9, 9, 9, 9, 9, 9])
    const all = seven.flatMap((one) => one.held().map(({ slot }) => slot))
    expect(new Set(all).size).toBe(64)

    await seven[0]!.giveBack()
    expect(await settle(seven.slice(1))).toEqual([11, 11, 11, 11, 10, 10])
    expect(await database.get().sql('select kind, lease_until > now() as alive from noetl.member')).toMatchObject(
      Array.from({ length: 6 }, () => ({ kind: 'daemon', alive: true })),
    )
    await Promise.all(seven.map((one) => one.giveBack()))
  })

  it('keep a slot that is not empty until it is', async () => {
    await prepareLeases(database.get().db, 'busy', LANES.length)
    let isEmpty = false
    const first = keeper('busy', 'busy-1', { isEmpty: () => isEmpty })
    const second = keeper('busy', 'busy-2')
    await first.runOnce()
    expect(first.held()).toHaveLength(64)
    await settle([first, second])
    expect(first.held()).toHaveLength(64)
    expect(first.usable()).toHaveLength(32)
    isEmpty = true
    expect(await settle([first, second])).toEqual([32, 32])
    await Promise.all([first.giveBack(), second.giveBack()])
  })
})

describe('a lease', () => {
  it('that was not renewed is not trusted, is taken over with a higher token, and the old fence falls', async () => {
    await prepareLeases(database.get().db, 'late', LANES.length)
    const first = keeper('late', 'late-1', { leaseMs: 1_000 })
    await first.runOnce()
    const fence = first.fenceOf(5)!
    expect(first.isSafe()).toBe(true)
    passedMs += 1_000
    expect(first.isSafe()).toBe(false)
    expect(first.fenceOf(5)).toBeUndefined()

    await database
      .get()
      .sql(`update noetl.lease set lease_until = now(), renewed_at = now() - interval '2 s' where kind = 'late'`)
    await database.get().sql(`update noetl.member set lease_until = now() where id = 'late-1'`)
    const second = keeper('late', 'late-2')
    await second.runOnce()
    expect(second.taken).toHaveLength(64)
    expect(second.taken.every(({ idleSeconds }) => idleSeconds! > 1)).toBe(true)
    expect(BigInt(second.fenceOf(5)!.token)).toBeGreaterThan(BigInt(fence.token))
    await first.runOnce()
    expect(first.lost).toHaveLength(64)
    expect(first.held()).toEqual([])
    await Promise.all([first.giveBack(), second.giveBack()])
  })

  it('that was given back is free at once, without a vanished owner', async () => {
    await prepareLeases(database.get().db, 'back', LANES.length)
    const first = keeper('back', 'back-1')
    await first.runOnce()
    await first.giveBack()
    const second = keeper('back', 'back-2')
    await second.runOnce()
    expect(second.taken.filter(({ idleSeconds }) => idleSeconds !== undefined)).toEqual([])
    expect(second.held()).toHaveLength(64)
    await second.giveBack()
  })
})
