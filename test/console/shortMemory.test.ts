// Promise: the page of an execution says so where a jump takes longer because memory is short, and nowhere else.
import { expect, it } from 'vitest'
import { shortMemory } from '../../console/src/pages/execution/shortMemory.js'

it('tells of states that are kept twice as far apart as they should be, and what a jump costs then', () => {
  const cost = { folded: 1_000, foldedMs: 20 }
  expect(shortMemory({ ...cost, distance: 1_000 }, 100_000)).toBeUndefined()
  // A log that has grown, and one that is long.
  expect(shortMemory({ ...cost, distance: 1_000 }, 400_000)).toBeUndefined()
  expect(shortMemory({ ...cost, distance: 10_000 }, 1_000_000)).toBeUndefined()
  expect(shortMemory({ ...cost, distance: 2_000 }, 100_000)).toEqual({ events: 2_000, ms: 40 })
  expect(shortMemory({ distance: 20_000, folded: 3, foldedMs: 1 }, 1_000_000)).toEqual({
    events: 20_000,
    ms: undefined,
  })
})
