// Promise: the ceilings are the NoETL server's table, and jitter never exceeds them nor retries at once.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { backoffCeilingMs, delayMs } from '../../src/domain/backoff.js'

it('doubles from one second to 256 and stays there', () => {
  const seconds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1000].map((attempts) => backoffCeilingMs(attempts) / 1000)
  expect(seconds).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256])
})

it('honours a lower cap and never goes below zero', () => {
  expect(backoffCeilingMs(9, 60_000)).toBe(60_000)
  expect(backoffCeilingMs(1, 60_000)).toBe(1_000)
  expect(backoffCeilingMs(5, -1)).toBe(0)
})

it('stays between half of the ceiling and the ceiling, and uses that range', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 10_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (n, r) => {
        const delay = delayMs(n, r)
        expect(delay).toBeGreaterThanOrEqual(backoffCeilingMs(n) / 2)
        expect(delay).toBeLessThanOrEqual(backoffCeilingMs(n))
      },
    ),
  )
  expect([delayMs(3, 0), delayMs(3, 0.5), delayMs(3, 0.9999)]).toEqual([2000, 3000, 4000])
})
