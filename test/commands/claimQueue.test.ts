// Promise: once claims have stopped, whoever asks again and again gets nothing and holds up nothing: a worker of this process
// that is stopped after them must hear of it.
import { expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { createClaimQueue } from '../../src/services/commands/claimQueue.js'

const TURNS_MAX = 10_000

it('lets others have their turn between the answers to a worker that asks on', async () => {
  const queue = createClaimQueue({ clock: systemClock, shards: 1, pollMs: 1_000, claim: async () => [[]] })
  await queue.start()
  await queue.stop(1_000)
  let wasTurn = false
  setImmediate(() => {
    wasTurn = true
  })
  for (let turn = 0; turn < TURNS_MAX && !wasTurn; turn++) {
    expect(await queue.claim({ workerId: 'w', pools: ['p'], max: 1, waitMs: 30_000 })).toEqual([])
  }
  expect(wasTurn).toBe(true)
})
