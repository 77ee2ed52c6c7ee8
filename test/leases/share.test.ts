// Promises of sharing: everything is held by somebody, no member holds two more than another, and a lease is never
// trusted to its end.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LANE_COUNT, laneOf } from '../../src/domain/leases/lane.js'
import { fairShare, slotsToLeave, trustedUntil } from '../../src/domain/leases/share.js'

const shares = (slots: number, members: number): number[] =>
  Array.from({ length: members }, (_, rank) => fairShare(slots, { members, rank }))

describe('fair shares', () => {
  it('add up to all slots and differ by at most one', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 300 }), (slots, members) => {
        const all = shares(slots, members)
        expect(all.reduce((sum, share) => sum + share, 0)).toBe(slots)
        expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('give seven daemons 64 lanes as evenly as they can', () => {
    expect(shares(LANE_COUNT, 7)).toEqual([10, 9, 9, 9, 9, 9, 9])
  })
})

describe('giving back', () => {
  const slots = fc.uniqueArray(fc.nat(63), { maxLength: 64 })

  it('leaves exactly the share, and keeps slots on their way out on their way while there are too many', () => {
    fc.assert(
      fc.property(slots, slots, fc.nat(64), (held, out, share) => {
        const leaving = new Set(out.filter((slot) => held.includes(slot)))
        const next = slotsToLeave(held, leaving, share)
        if (held.length <= share) expect(next.size).toBe(0)
        else {
          expect(held.length - next.size).toBe(Math.min(share, held.length - leaving.size))
          for (const slot of leaving) expect(next.has(slot)).toBe(true)
        }
        for (const slot of next) expect(held).toContain(slot)
      }),
    )
  })
})

describe('trust', () => {
  it('ends before the lease does, and never at once', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 3_600_000 }), (askedMs, leaseMs) => {
        const until = trustedUntil(askedMs, leaseMs)
        expect(until).toBeLessThan(askedMs + leaseMs)
        expect(until).toBeGreaterThan(askedMs)
      }),
    )
  })
})

describe('lanes', () => {
  it('are numbers from 0 to 63, for ids of either sign', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        const lane = laneOf(id)
        expect(Number.isInteger(lane) && lane >= 0 && lane < LANE_COUNT).toBe(true)
        expect(laneOf(id.toString())).toBe(lane)
      }),
    )
  })
})
