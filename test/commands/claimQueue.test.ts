// Promise: what is about to be issued is offered only to workers that asked for offers, wait, and have seen that nothing older
// waits; an offer that comes to nothing takes nothing from them. And: once claims have stopped, whoever asks again and again gets nothing and holds up nothing: a worker of this process
// that is stopped after them must hear of it.
import { expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { type Asker, type ClaimRequest, createClaimQueue } from '../../src/services/commands/claimQueue.js'
import type { HeldCommand } from '../../src/services/commands/handOut.js'

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

/** A queue with nothing in it; `looks` are those that were served by a look. */
async function emptyQueue() {
  const looks: Asker[][] = []
  let hold: Promise<void> | undefined
  const claim = async (_: number, askers: readonly Asker[]): Promise<HeldCommand[][]> => {
    looks.push([...askers])
    await hold
    return askers.map(() => [])
  }
  const queue = createClaimQueue({ clock: systemClock, shards: 1, pollMs: 60_000, claim })
  await queue.start()
  const ask = async (more: Partial<ClaimRequest> = {}) => {
    const asked = queue.claim({ workerId: 'w', pools: ['p'], max: 2, waitMs: 30_000, takesOffers: true, ...more })
    await settled()
    return { asked }
  }
  return { queue, looks, ask, holdLooks: (until: Promise<void>) => (hold = until) }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const command = (more = {}) => ({ pool: 'p', kind: 'noop', priority: 0, ...more })
const held = (eventId: string) => ({ eventId }) as HeldCommand

it('offers to those who wait no more than they asked for, of what they want, and the higher priority first', async () => {
  const { queue, ask } = await emptyQueue()
  const { asked } = await ask({ kinds: ['noop'] })
  const low = command()
  const high = command({ priority: 1 })
  const offer = queue.offer([command({ pool: 'q' }), command({ kind: 'http' }), undefined, low, low, high])
  expect(offer.takers.map((taker) => taker?.workerId)).toEqual([undefined, undefined, undefined, 'w', undefined, 'w'])
  // Kept for the offer: nobody else gets the same places.
  expect(queue.offer([low]).takers).toEqual([undefined])
  offer.settle([undefined, undefined, undefined, held('4'), undefined, held('6')])
  expect((await asked).map(({ eventId }) => eventId).sort()).toEqual(['4', '6'])
  await queue.stop(1_000)
})

it('offers nothing to one that did not ask for it, or that is still looking for what is older', async () => {
  const { queue, ask, holdLooks } = await emptyQueue()
  await ask({ takesOffers: false })
  expect(queue.offer([command()]).takers).toEqual([undefined])
  let goOn = (): void => undefined
  holdLooks(new Promise((resolve) => (goOn = resolve)))
  await ask()
  expect(queue.offer([command()]).takers).toEqual([undefined])
  goOn()
  await settled()
  expect(queue.offer([command()]).takers).toHaveLength(1)
  await queue.stop(1_000)
})

it('looks again for one whose offer came to nothing, and answers one whose time was up meanwhile', async () => {
  const { queue, looks, ask } = await emptyQueue()
  const { asked } = await ask()
  expect(looks).toHaveLength(1)
  const first = queue.offer([command()])
  queue.nudge(0)
  await settled()
  // Nobody looks for it while an offer is open.
  expect(looks).toHaveLength(1)
  first.settle([undefined])
  await settled()
  expect(looks).toHaveLength(2)
  const gone = new AbortController()
  const { asked: left } = await ask({ workerId: 'v', signal: gone.signal })
  const second = queue.offer([command(), command(), command()])
  expect(second.takers.map((taker) => taker?.workerId)).toEqual(['w', 'w', 'v'])
  gone.abort()
  second.settle([held('1'), undefined, held('3')])
  expect(await asked).toEqual([held('1')])
  // It is committed as its own: it must hear of it.
  expect(await left).toEqual([held('3')])
  await queue.stop(1_000)
})

it('has nobody look for what is issued in pools that nobody here waits for', async () => {
  const { queue, looks, ask } = await emptyQueue()
  await ask()
  await ask({ pools: ['q'] })
  const before = looks.length
  queue.nudge(0, ['elsewhere'])
  await settled()
  expect(looks).toHaveLength(before)
  queue.nudge(0, ['elsewhere', 'q'])
  await settled()
  expect(looks.slice(before).flatMap((askers) => askers.map(({ pools }) => pools))).toContainEqual(['q'])
  await queue.stop(1_000)
})

it('does not look again for one that has just been given what was offered, unless there is news', async () => {
  const { queue, looks, ask } = await emptyQueue()
  await giveOne()
  expect(looks).toHaveLength(1)
  await giveOne()
  expect(looks).toHaveLength(1)
  queue.nudge(0, ['elsewhere'])
  await giveOne()
  expect(looks).toHaveLength(1)
  queue.nudge(0, ['p'])
  await ask()
  expect(looks).toHaveLength(2)
  await queue.stop(1_000)

  async function giveOne(): Promise<void> {
    const { asked } = await ask()
    queue.offer([command()]).settle([held('1')])
    expect(await asked).toEqual([held('1')])
  }
})
