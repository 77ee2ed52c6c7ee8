// Promise: what docs/capacity.md says about a thousand shards. Routing is the product's own; lanes are held by the
// product's own keepers, over a table in memory and a clock that only moves when told to.
import { describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/db.js'
import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import { LANE_COUNT, LANES } from '../../src/domain/leases/lane.js'
import { shardOf } from '../../src/domain/shards/shards.js'
import { createLeaseKeeper, type LeaseKeeper } from '../../src/services/leases/leaseKeeper.js'
import { createMembership } from '../../src/services/leases/membership.js'

const SHARDS = 1_000
const EXECUTIONS = 1_000_000
const LEASE_MS = 15_000

/** Ids as 40 daemons mint them over a day: the low bits hardly differ, which a weak hash would show. */
function* mintedIds(count: number): Generator<string> {
  const start = Date.UTC(2026, 10, 16)
  for (let n = 0; n < count; n++) {
    yield composeSnowflake(start + Math.floor((n * 86_400_000) / count), n % 40, 0).toString()
  }
}

function spread(ids: Iterable<string>, shards: number): number[] {
  const counts = new Array<number>(shards).fill(0)
  for (const id of ids) counts[shardOf(id, shards)]! += 1
  return counts
}

describe('routing over a thousand shards', () => {
  it('is as even as chance: the fullest shard stays within the bound on paper', () => {
    const counts = spread(mintedIds(EXECUTIONS), SHARDS)
    const mean = EXECUTIONS / SHARDS
    // The largest of N normal values lies about sqrt(2 ln N) deviations above the mean; one more is rare.
    const bound = mean + (Math.sqrt(2 * Math.log(SHARDS)) + 1) * Math.sqrt(mean)
    expect(Math.max(...counts)).toBeLessThan(bound)
    expect(Math.min(...counts)).toBeGreaterThan(2 * mean - bound)
    expect(Math.max(...counts) / mean).toBeLessThan(1.16)
  })
  it('moves nearly everything when the count changes, so the count is for the life of the executions', () => {
    const ids = [...mintedIds(20_000)]
    const moved = (from: number, to: number) => ids.filter((id) => shardOf(id, from) !== shardOf(id, to)).length
    expect(moved(1_000, 1_001) / ids.length).toBeGreaterThan(0.99)
    // Doubling leaves half of them where they were.
    expect(moved(500, 1_000) / ids.length).toBeCloseTo(0.5, 1)
  })
})

// Shards do not know of each other, so a hundred show what a thousand do.
describe('lanes of many shards', () => {
  it.each([1, 2, 4, 7, 10, 16])('are all held, and shared evenly by %i daemons', async (daemons) => {
    const cluster = openCluster(100)
    for (let n = 0; n < daemons; n++) cluster.join()
    await cluster.settle()
    const held = cluster.lanesByDaemon()
    expect(held.reduce((sum, lanes) => sum + lanes, 0)).toBe(cluster.shards * LANE_COUNT)
    // In each shard no two differ by more than one.
    expect(Math.max(...held)).toBeLessThanOrEqual(cluster.shards * Math.ceil(LANE_COUNT / daemons))
    expect(Math.min(...held)).toBeGreaterThanOrEqual(cluster.shards * Math.floor(LANE_COUNT / daemons))
  })
  it('of a daemon that vanished go to the others once the lease is over, and only those', async () => {
    const cluster = openCluster(100)
    for (let n = 0; n < 10; n++) cluster.join()
    await cluster.settle()
    const before = cluster.owners()
    const orphaned = cluster.kill(3)
    await cluster.pass(LEASE_MS / 2)
    expect(cluster.moved(before)).toBe(0)
    await cluster.pass(LEASE_MS)
    expect(cluster.moved(before)).toBe(orphaned)
    expect(cluster.lanesByDaemon().reduce((sum, lanes) => sum + lanes, 0)).toBe(cluster.shards * LANE_COUNT)
  })
  it('move to a daemon that joins until it has its share, and no others move', async () => {
    const cluster = openCluster(100)
    for (let n = 0; n < 7; n++) cluster.join()
    await cluster.settle()
    const before = cluster.owners()
    cluster.join()
    await cluster.settle()
    const share = cluster.shards * (LANE_COUNT / 8)
    expect(cluster.lanesByDaemon()[7]).toBe(share)
    expect(cluster.moved(before)).toBe(share)
  })
})

interface Lane {
  owner: string | undefined
  token: number
  until: number
}

function openCluster(shards: number) {
  let now = 0
  const tables = Array.from({ length: shards }, () => ({
    lanes: Array.from({ length: LANE_COUNT }, (): Lane => ({ owner: undefined, token: 0, until: 0 })),
    alive: new Map<string, number>(),
  }))
  const daemons: (LeaseKeeper[] | undefined)[] = []
  const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined }

  /** Answers the statements of the lease and member stores from memory. */
  function dbOf({ lanes, alive }: (typeof tables)[number]): Db {
    const mine = (owner: string, slots: number[], tokens: string[]) =>
      slots.filter((slot, at) => lanes[slot]!.owner === owner && String(lanes[slot]!.token) === tokens[at])
    const rows = (slots: readonly number[]) => slots.map((slot) => ({ slot, token: String(lanes[slot]!.token) }))
    const statements: Record<string, (...values: never[]) => unknown[]> = {
      lease_renew: (
        _kind: string,
        owner: string,
        slots: number[],
        tokens: string[],
        _marks: string[],
        seconds: number,
      ) => {
        const still = mine(owner, slots, tokens)
        for (const slot of still) lanes[slot]!.until = now + seconds * 1000
        return rows(still)
      },
      lease_take: (_kind: string, owner: string, slots: number[], limit: number, seconds: number) => {
        const free = slots
          .filter((slot) => lanes[slot]!.owner === undefined || lanes[slot]!.until < now)
          .slice(0, limit)
        for (const slot of free)
          Object.assign(lanes[slot]!, { owner, token: lanes[slot]!.token + 1, until: now + seconds * 1000 })
        return rows(free).map((row) => ({ ...row, idle_seconds: null, high_water: '0', ended_ms: null }))
      },
      lease_release: (_kind: string, owner: string, slots: number[], tokens: string[]) => {
        for (const slot of mine(owner, slots, tokens)) lanes[slot]!.owner = undefined
        return []
      },
      member_beat: (id: string, seconds: number) => {
        alive.set(id, now + seconds * 1000)
        const ids = [...alive].filter(([, until]) => until >= now).map(([other]) => other)
        return [{ share: 'outbox', members: ids.length, rank: ids.filter((other) => other < id).length }]
      },
    }
    const run = async ({ name }: { name: string }, values: readonly unknown[]) =>
      statements[name]!(...(values as never[]))
    return { run } as unknown as Db
  }

  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; ) {
      now += 1_000
      for (const keepers of daemons) for (const keeper of keepers ?? []) await keeper.runOnce()
    }
  }
  const owners = (): (string | undefined)[] => tables.flatMap(({ lanes }) => lanes.map(({ owner }) => owner))
  return {
    shards,
    join: () => {
      const owner = `daemon-${daemons.length}`
      daemons.push(
        tables.map((table) => {
          const db = dbOf(table)
          return createLeaseKeeper({
            db,
            clock,
            kind: 'outbox',
            slots: LANES,
            owner,
            leaseMs: LEASE_MS,
            share: { membership: createMembership({ db, clock, id: owner, kind: 'daemon' }), describe: () => ({}) },
            onTaken: () => undefined,
            onLost: () => undefined,
          })
        }),
      )
    },
    /** Answers how many lanes it held. */
    kill: (index: number): number => {
      daemons[index] = undefined
      return owners().filter((owner) => owner === `daemon-${index}`).length
    },
    pass,
    settle: () => pass(5_000),
    owners,
    moved: (before: readonly (string | undefined)[]): number =>
      owners().filter((owner, index) => owner !== before[index]).length,
    lanesByDaemon: (): number[] =>
      daemons.map((_, index) => owners().filter((owner) => owner === `daemon-${index}`).length),
  }
}
