// Promise: every implementation sends an execution to the same shard. Checked against pinned values and
// against an independent XXH64.

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import xxhash, { type XXHashAPI } from 'xxhash-wasm'
import { INT64_MAX, INT64_MIN } from '../../src/domain/ids/ids.js'
import { hostnameOrdinal, shardOf } from '../../src/domain/shards/shards.js'
import { xxh64Halves } from '../../src/domain/shards/xxh64.js'
import { CpError } from '../../src/errors.js'
import { idVectors } from '../ids/idVectors.js'

let independent: XXHashAPI
beforeAll(async () => {
  independent = await xxhash()
})

function independentHash(id: bigint): bigint {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(id)
  return independent.h64Raw(bytes, 0n)
}

function distribution(count: number, ids: number, step = 1n): number[] {
  const found = new Array<number>(count).fill(0)
  for (let index = 0; index < ids; index++) {
    const shard = shardOf(320816801799737344n + BigInt(index) * step, count)
    found[shard] = (found[shard] ?? 0) + 1
  }
  return found
}

function xxh64(id: string | bigint): bigint {
  const [high, low] = xxh64Halves(String(id))
  return (BigInt(high) << 32n) | BigInt(low)
}

describe('hash', () => {
  it.each(idVectors.shard_for)('of $execution_id is pinned', ({ execution_id, xxh64: hash, shards }) => {
    expect(xxh64(execution_id).toString()).toBe(hash)
    for (const [count, shard] of Object.entries(shards)) {
      expect(shardOf(execution_id, Number(count))).toBe(shard)
      expect(shardOf(BigInt(execution_id), Number(count))).toBe(shard)
    }
  })

  it('agrees with an independent implementation for any id and any count', () => {
    const edges = [0n, -1n, 1n, 999_999n, 1_000_000n, 10n ** 12n, 2n ** 32n, -(2n ** 32n), INT64_MAX, INT64_MIN]
    const id = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: INT64_MIN, max: INT64_MAX }))
    fc.assert(
      fc.property(id, fc.integer({ min: 2, max: 1024 }), (value, count) => {
        const hash = independentHash(value)
        expect(xxh64(value)).toBe(hash)
        expect(shardOf(value.toString(), count)).toBe(Number(hash % BigInt(count)))
      }),
      { numRuns: 1500 },
    )
  })

  it('spreads neighbouring ids as pinned', () => {
    const pinned = idVectors.shard_distribution
    expect(distribution(16, 10_000)).toEqual(pinned['16x10000'])
    expect(distribution(4, 10_000)).toEqual(pinned['4x10000'])
    expect(distribution(2, 2_000)).toEqual(pinned['2x2000'])
    expect(distribution(4, 2_000)).toEqual(pinned['4x2000'])
  })

  it('spreads ids that are one millisecond apart as evenly as the pinned run, whose start is not recorded', () => {
    const worst = Math.max(
      ...(idVectors.shard_distribution['4x10000_ms_step'] ?? []).map((found) => Math.abs(found - 2500)),
    )
    for (const found of distribution(4, 10_000, 1n << 22n)) expect(Math.abs(found - 2500)).toBeLessThan(worst * 2)
  })
})

describe('count', () => {
  it('of 0 or 1 means not sharded', () => {
    expect(shardOf('320816801799737344', 0)).toBe(0)
    expect(shardOf('320816801799737344', 1)).toBe(0)
  })

  it.each([-1, 1025, 2.5, Number.NaN])('of %d is refused', (count) => {
    expect(() => shardOf('1', count)).toThrowError(CpError)
  })
})

describe('ordinal of a host name', () => {
  it.each(idVectors.hostname_ordinal)('of "$hostname" is $ordinal', ({ hostname, ordinal }) => {
    expect(hostnameOrdinal(hostname) ?? null).toBe(ordinal)
  })
})
