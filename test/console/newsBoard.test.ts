// Promise: a listener hears its topics in order and goes on after a break without losing or repeating one; one that reads too
// slowly, has lost its right or outlives the daemon is let go with a sentence; nothing grows without bound.
import { expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import {
  createNewsBoard,
  type Heard,
  type ListenOptions,
  type NewsBoard,
} from '../../src/services/console/newsBoard.js'

function listen(board: NewsBoard, options: Partial<ListenOptions> = {}) {
  const leaving = new AbortController()
  const heard = board.listen({
    topics: new Set(['outbox']),
    lastId: undefined,
    greeting: { role: 'viewer' },
    isAllowed: () => true,
    signal: leaving.signal,
    ...options,
  })
  const iterator = heard[Symbol.asyncIterator]()
  return {
    next: async (): Promise<Exclude<Heard, 'quiet'>> => {
      const { value, done } = await iterator.next()
      return done ? { name: 'over', data: {} } : value === 'quiet' ? { name: 'quiet', data: {} } : value
    },
    leave: async () => {
      leaving.abort()
      await iterator.return?.()
    },
  }
}

it('tells each topic to those who asked for it, and what was missed to those who come back', async () => {
  const board = createNewsBoard({ clock: systemClock })
  const one = listen(board)
  const hello = await one.next()
  expect(hello).toMatchObject({ name: 'hello', data: { reset: true, role: 'viewer' } })
  board.post('activity', 'activity', { id: '1' })
  board.post('outbox', 'outbox', { dead: 1 })
  const first = await one.next()
  expect(first).toMatchObject({ name: 'outbox', data: { dead: 1 } })
  await one.leave()
  expect(board.clients()).toBe(0)
  board.post('outbox', 'outbox', { dead: 2 })
  board.post('outbox', 'outbox', { dead: 3 })

  const back = listen(board, { lastId: first.id })
  expect(await back.next()).toMatchObject({ id: first.id, name: 'hello', data: { reset: false } })
  expect([(await back.next()).data, (await back.next()).data]).toEqual([{ dead: 2 }, { dead: 3 }])
  for (const lastId of [`${'0'.repeat(12)}.1`, `${first.id}9`, 'nonsense']) {
    const stranger = listen(board, { lastId })
    expect((await stranger.next()).data, lastId).toMatchObject({ reset: true })
    await stranger.leave()
  }
  await back.leave()
})

it('remembers so many messages and no more', async () => {
  const board = createNewsBoard({ clock: systemClock, limits: { ring: 3 } })
  const one = listen(board)
  const { id } = await one.next()
  await one.leave()
  for (let n = 0; n < 3; n++) board.post('outbox', 'outbox', { n })
  const known = listen(board, { lastId: id! })
  expect((await known.next()).data).toMatchObject({ reset: false })
  await known.leave()
  board.post('outbox', 'outbox', { n: 3 })
  const late = listen(board, { lastId: id! })
  expect((await late.next()).data).toMatchObject({ reset: true })
  await late.leave()
})

it('remembers so many bytes and no more, however few messages that is', async () => {
  const board = createNewsBoard({ clock: systemClock, limits: { ringBytes: 1_000 } })
  const one = listen(board)
  const { id } = await one.next()
  await one.leave()
  board.post('outbox', 'outbox', { path: 'x'.repeat(600) })
  const known = listen(board, { lastId: id! })
  expect((await known.next()).data).toMatchObject({ reset: false })
  await known.leave()
  board.post('outbox', 'outbox', { path: 'y'.repeat(600) })
  const late = listen(board, { lastId: id! })
  expect((await late.next()).data).toMatchObject({ reset: true })
  await late.leave()
})

it('lets go of a listener that does not read, says how much was dropped, and keeps the others', async () => {
  let cut = 0
  const board = createNewsBoard({ clock: systemClock, limits: { queueBytes: 1_000 }, onCut: () => cut++ })
  const slow = listen(board)
  await slow.next()
  board.post('outbox', 'outbox', { n: 0 })
  await slow.next()
  for (let n = 1; n < 200; n++) board.post('outbox', 'outbox', { n, text: 'x'.repeat(50) })
  const quick = listen(board)
  await quick.next()
  board.post('outbox', 'outbox', { n: 'last' })
  expect(cut).toBe(1)
  expect((await quick.next()).data).toEqual({ n: 'last' })
  const lag = await slow.next()
  expect(lag.name).toBe('lag')
  expect(lag.data['dropped']).toBeGreaterThan(5)
  expect(await slow.next()).toMatchObject({
    name: 'bye',
    data: { retry_ms: 2_000, reason: expect.stringContaining('reads too slowly') },
  })
  expect(await slow.next()).toMatchObject({ name: 'over' })
  expect(board.clients()).toBe(1)
  await quick.leave()
})

it('ends with the session, with the daemon, and is refused when too many listen', async () => {
  let isAllowed = true
  const board = createNewsBoard({ clock: systemClock, limits: { clients: 2, rightsMs: 5, quietMs: 10 } })
  const one = listen(board, { isAllowed: () => isAllowed })
  await one.next()
  expect(await one.next()).toMatchObject({ name: 'quiet' })
  const two = listen(board)
  await two.next()
  expect(() => listen(board)).toThrow('2 streams are open')
  isAllowed = false
  const past = async (listener: typeof one) => {
    for (;;) {
      const said = await listener.next()
      if (said.name !== 'quiet') return said
    }
  }
  expect((await past(one)).data).toMatchObject({ reason: expect.stringContaining('log in again') })
  expect(await past(one)).toMatchObject({ name: 'over' })
  await board.stop(1_000)
  expect((await past(two)).data).toMatchObject({ reason: 'the daemon is stopping' })
  expect(await past(two)).toMatchObject({ name: 'over' })
  expect(board.clients()).toBe(0)
})
