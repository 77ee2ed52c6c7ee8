// Promise: a state that nobody decides by is followed by rounds that many triggers share; one that somebody decides by
// is followed at once.
import { describe, expect, it } from 'vitest'
import { createRestingTriggers } from '../../src/services/state/restingTriggers.js'
import { createStateSlots, type Outcome } from '../../src/services/state/stateSlots.js'
import { holds, until } from '../support/until.js'

describe('triggers at rest', () => {
  it('are let go together, each execution once, and again when more comes', async () => {
    const released: string[] = []
    const resting = createRestingTriggers((id) => released.push(id), 5)
    for (let n = 0; n < 100; n++) resting.add(n % 2 === 0 ? '1' : '2')
    expect(released).toEqual([])
    await until('both are let go', () => released.length === 2)
    expect(released).toEqual(['1', '2'])
    resting.add('1')
    await until('the first is let go again', () => released.length === 3)
    resting.close()
  })

  it('rest for their whole time, whenever the others came', async () => {
    const added = new Map<string, number>()
    const rested: number[] = []
    const resting = createRestingTriggers((id) => rested.push(performance.now() - added.get(id)!), 20)
    for (let n = 0; n < 30; n++) {
      added.set(String(n), performance.now())
      resting.add(String(n))
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
    await until('all are let go', () => rested.length === 30)
    // A timer may be a millisecond early.
    expect(Math.min(...rested)).toBeGreaterThanOrEqual(19)
    resting.close()
  })

  it('are dropped when it closes', async () => {
    const released: string[] = []
    const resting = createRestingTriggers((id) => released.push(id), 1)
    resting.add('1')
    resting.close()
    await holds('nothing is let go', () => released.length === 0, { forMs: 50 })
  })
})

describe('a state', () => {
  it.each([
    [true, false],
    [false, true],
  ])('that is driven: %s is only watched: %s, once it is in memory', async (isDriven, isOnlyWatched) => {
    const outcome: Outcome = {
      version: 1,
      applied: 1,
      terminal: false,
      resident: true,
      bytes: 1,
      digest: '',
      view: undefined,
      open: undefined,
      sealed: undefined,
      isDriven,
    }
    const slots = createStateSlots(
      { entriesMax: 10, bytesMax: 1_000, parallelMax: 1, threads: 1 },
      {
        run: async () => outcome,
        evict: async () => undefined,
        drop: () => undefined,
        onCoalesced: () => undefined,
        onEvicted: () => undefined,
        onRound: () => undefined,
      },
    )
    expect(slots.isOnlyWatched('1')).toBe(false)
    await slots.ask('1', {})
    expect(slots.isOnlyWatched('1')).toBe(isOnlyWatched)
  })
})
