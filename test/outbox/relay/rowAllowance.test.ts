// Promise: no more rows leave than were allowed, whatever becomes of them: a row that is sent again costs nothing more,
// and one that was refused lets another go in its place.
import { expect, it } from 'vitest'
import { createExecutionQueues } from '../../../src/services/outbox/relay/executionQueues.js'
import { limitQueues } from '../../../src/services/outbox/relay/rowAllowance.js'
import type { OutboxRow } from '../../../src/stores/outbox/outboxStore.js'

const row = (n: number): OutboxRow =>
  ({
    outbox_id: String(n),
    execution_id: String(100 + n),
    event_id: String(n),
    lane: 1,
    attempts: 0,
    wait_ms: 0,
  }) as never

function queuesOf(count: number, left: number) {
  const allowance = { left }
  const queues = limitQueues(createExecutionQueues(), allowance)
  for (let n = 1; n <= count; n++) queues.offer(row(n), 0)
  const takeAll = () => {
    const taken: OutboxRow[] = []
    for (let next = queues.next(); next !== undefined; next = queues.next()) taken.push(next)
    return taken
  }
  return { queues, allowance, takeAll }
}

it('hands out no more than allowed', () => {
  const { takeAll, queues } = queuesOf(5, 3)
  const taken = takeAll()
  expect(taken).toHaveLength(3)
  for (const one of taken) queues.acked(one)
  expect(takeAll()).toEqual([])
})

it('asks nothing more for a row that is sent again', () => {
  const { takeAll, queues, allowance } = queuesOf(3, 1)
  const [first] = takeAll()
  queues.again(first!)
  expect(takeAll()).toEqual([first])
  expect(allowance.left).toBe(0)
})

it.each(['hold', 'givenUp'] as const)('lets another go when one was refused: %s', (how) => {
  const { takeAll, queues } = queuesOf(3, 1)
  const [first] = takeAll()
  if (how === 'hold') queues.hold(first!, 1_000, 0)
  else queues.givenUp(first!)
  const [second, ...more] = takeAll()
  expect(second).toBeDefined()
  expect(second).not.toBe(first)
  expect(more).toEqual([])
})
