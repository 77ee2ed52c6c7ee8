// Promise: what docs/capacity.md says about a thousand shards. Routing is the product's own; lanes are held by the
// product's own keepers, over a table in memory and a clock that only moves when told to.
import { describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/db.js'
import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import { shardOf } from '../../src/domain/shards/shards.js'
import { createLaneKeeper, type LaneKeeper } from '../../src/services/outbox/relay/laneKeeper.js'
import type { LaneStore } from '../../src/stores/outbox/laneStore.js'
import { LANE_COUNT } from '../../src/stores/outbox/laneStore.js'

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
  it.each([1, 2, 4, 10, 16])('are all held, and shared evenly by %i daemons', async (daemons) => {
    const cluster = openCluster(100)
    for (let n = 0; n < daemons; n++) cluster.join()
    await cluster.settle()
    const held = cluster.lanesByDaemon()
    expect(held.reduce((sum, lanes) => sum + lanes, 0)).toBe(cluster.shards * LANE_COUNT)
    // In each shard nobody has more than the rounded-up share.
    expect(Math.max(...held)).toBeLessThanOrEqual(cluster.shards * Math.ceil(LANE_COUNT / daemons))
    expect(Math.min(...held)).toBeGreaterThan(0)
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
    // Shares are rounded up: of seven daemons six had ten lanes and one had four. The six give two each, which the
    // new one and the short one take; nothing else moves.
    expect(cluster.moved(before)).toBe(cluster.shards * 12)
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
  const daemons: (LaneKeeper[] | undefined)[] = []
  const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined }

  function storeOf({ lanes, alive }: (typeof tables)[number]): LaneStore {
    const isHeld = (lane: Lane, owner: string, token: string): boolean =>
      lane.owner === owner && String(lane.token) === token
    return {
      renew: async (_db, owner, held, seconds) => {
        const still = held.filter(({ lane, token }) => isHeld(lanes[lane]!, owner, token))
        for (const { lane } of still) lanes[lane]!.until = now + seconds * 1000
        return still
      },
      take: async (_db, owner, limit, seconds) => {
        const free = lanes.flatMap((lane, index) => (lane.owner === undefined || lane.until < now ? [index] : []))
        return free.slice(0, limit).map((index) => {
          const lane = lanes[index]!
          Object.assign(lane, { owner, token: lane.token + 1, until: now + seconds * 1000 })
          return { lane: index, token: String(lane.token), idleSeconds: undefined, head: '0' }
        })
      },
      release: async (_db, owner, held) => {
        for (const { lane, token } of held) if (isHeld(lanes[lane]!, owner, token)) lanes[lane]!.owner = undefined
      },
      beat: async (_db, { relayId, leaseSeconds }) => {
        alive.set(relayId, now + leaseSeconds * 1000)
        return [...alive.values()].filter((until) => until >= now).length
      },
      leave: async (_db, owner) => {
        alive.delete(owner)
      },
    }
  }

  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; ) {
      now += 1_000
      for (const keepers of daemons) for (const keeper of keepers ?? []) await keeper.keep()
    }
  }
  const owners = (): (string | undefined)[] => tables.flatMap(({ lanes }) => lanes.map(({ owner }) => owner))
  return {
    shards,
    join: () => {
      const relayId = `daemon-${daemons.length}`
      daemons.push(
        tables.map((table) =>
          createLaneKeeper({
            db: undefined as unknown as Db,
            relayId,
            clock,
            leaseMs: LEASE_MS,
            store: storeOf(table),
            share: true,
            onTaken: () => undefined,
            onReadable: () => undefined,
            onLost: () => undefined,
            rowsOf: () => 0,
            published: () => 0n,
          }),
        ),
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
