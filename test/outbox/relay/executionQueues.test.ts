// Promise: the queues send one row of an execution at a time, in id order, and no execution waits for another.
import { describe, expect, it } from 'vitest'
import { createExecutionQueues } from '../../../src/services/outbox/relay/executionQueues.js'
import { row } from './rows.js'

describe('queues of executions', () => {
  it('have one row of an execution on its way at a time, in id order', () => {
    const queues = createExecutionQueues()
    for (const id of [1, 2, 3]) expect(queues.offer(row(id, 7), 0)).toBe('queued')
    const first = queues.next()!
    expect(first.outbox_id).toBe('1')
    expect(queues.next()).toBeUndefined()
    queues.acked(first)
    expect(queues.next()!.outbox_id).toBe('2')
  })

  it('put a lower id that appears late before what has not been sent', () => {
    const queues = createExecutionQueues()
    queues.offer(row(5, 7), 0)
    queues.offer(row(9, 7), 0)
    queues.offer(row(6, 7), 0)
    const sent: string[] = []
    for (let next = queues.next(); next !== undefined; next = queues.next()) {
      sent.push(next.outbox_id)
      queues.acked(next)
    }
    expect(sent).toEqual(['5', '6', '9'])
  })

  it('hold back the execution of a refused row, and no other', () => {
    const queues = createExecutionQueues()
    queues.offer(row(1, 7), 0)
    queues.offer(row(2, 8), 0)
    queues.offer(row(3, 7), 0)
    const refused = queues.next()!
    queues.hold(refused, 1000, 0)
    const other = queues.next()!
    expect(other.outbox_id).toBe('2')
    queues.acked(other)
    expect(queues.next()).toBeUndefined()
    expect(queues.offer(row(4, 7), 0)).toBe('behind')
    expect(queues.takeDue(999, 10)).toEqual([])
    expect(queues.takeDue(1000, 10)).toEqual(['7'])
  })

  it('let earlier rows go before a row that must wait', () => {
    const queues = createExecutionQueues()
    expect(queues.offer(row(1, 7), 0)).toBe('queued')
    expect(queues.offer(row(2, 7, 500), 0)).toBe('behind')
    expect(queues.offer(row(3, 7), 0)).toBe('behind')
    const first = queues.next()!
    expect(first.outbox_id).toBe('1')
    queues.acked(first)
    expect(queues.next()).toBeUndefined()
    // Due at once: the wait is judged when the row is read again.
    expect(queues.takeDue(0, 10)).toEqual(['7'])
  })

  it('forget everything of lanes that are lost, answers included', () => {
    const queues = createExecutionQueues()
    queues.offer(row(1, 4), 0)
    queues.offer(row(2, 5), 0)
    const flying = queues.next()!
    queues.dropLanes(new Set([0]))
    queues.acked(flying)
    expect(queues.size()).toBe(1)
    expect(queues.next()!.outbox_id).toBe('2')
    expect(queues.inFlight()).toBe(1)
  })
})
