// Promise: whatever order of reads, acknowledgements, refusals, pauses and lane changes, every row is sent at
// least once, rows of one execution are first stored in id order, and no execution waits for another.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createExecutionQueues, keyOf } from '../../../src/services/outbox/relay/executionQueues.js'
import type { OutboxRow } from '../../../src/stores/outbox/outboxStore.js'

function row(id: number, execution: number, waitMs = 0): OutboxRow {
  return {
    outbox_id: String(id),
    owned: true,
    lane: execution % 4,
    execution_id: String(execution),
    event_id: String(id),
    attempts: 0,
    wait_ms: waitMs,
    unanswered_ms: undefined,
    subject: null,
    payload: '{}',
    trace: null,
    event_type: null,
    stream_version: null,
  }
}

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

type Step =
  | { kind: 'read'; limit: number }
  | { kind: 'send'; count: number }
  | { kind: 'answer'; which: number; outcome: 'stored' | 'unknown' | 'refused' | 'paused' }
  | { kind: 'settle' }
  | { kind: 'time'; ms: number }
  | { kind: 'commit' }
  | { kind: 'loseLane'; lane: number }

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), limit: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(20),
      outcome: fc.constantFrom(
        'stored' as const,
        'stored' as const,
        'unknown' as const,
        'refused' as const,
        'paused' as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('loseLane' as const), lane: fc.integer({ min: 0, max: 3 }) }) },
)

/** A table, a broker and the reader's rules in miniature. */
class World {
  readonly queues = createExecutionQueues()
  readonly table: { id: number; execution: number; visible: boolean; published: boolean; availableAt: number }[] = []
  readonly stored: number[] = []
  private flying: OutboxRow[] = []
  private acked: string[] = []
  private front = 0
  now = 0

  constructor(rows: readonly { execution: number; late: boolean }[]) {
    for (const [index, { execution, late }] of rows.entries()) {
      this.table.push({ id: index + 1, execution, visible: !late, published: false, availableAt: 0 })
    }
  }

  private toRow = (entry: World['table'][number]): OutboxRow =>
    row(entry.id, entry.execution, Math.max(0, entry.availableAt - this.now))

  private ready(): World['table'] {
    return this.table.filter((entry) => entry.visible && !entry.published)
  }

  read(limit: number): void {
    for (const key of this.queues.takeDue(this.now, 3)) {
      const rows = this.ready().filter((entry) => String(entry.execution) === key)
      for (const entry of rows) this.queues.offer(this.toRow(entry), this.now)
      this.queues.caughtUp(key, true)
    }
    const page = this.ready()
      .filter((entry) => entry.id > this.front)
      .slice(0, limit)
    for (const entry of page) {
      this.queues.offer(this.toRow(entry), this.now)
      this.front = entry.id
    }
    if (page.length > 0) return
    // The sweep over what lies behind the front.
    for (const entry of this.ready().filter(({ id }) => id <= this.front)) {
      const missed = this.toRow(entry)
      if (!this.queues.isKnown(missed.outbox_id) && !this.queues.isBehind(keyOf(missed)))
        this.queues.offer(missed, this.now)
    }
  }

  send(count: number): void {
    for (let index = 0; index < count; index++) {
      const next = this.queues.next()
      if (next === undefined) return
      const sameExecution = this.flying.filter((other) => other.execution_id === next.execution_id)
      expect(sameExecution, 'two rows of one execution on their way').toEqual([])
      this.flying.push(next)
    }
  }

  answer(which: number, outcome: 'stored' | 'unknown' | 'refused' | 'paused'): void {
    const index = which % Math.max(1, this.flying.length)
    const [sent] = this.flying.splice(index, 1)
    if (sent === undefined) return
    // An unknown outcome may well have been stored; the message id then drops the repetition.
    if (outcome === 'stored' || (outcome === 'unknown' && which % 2 === 0)) this.store(Number(sent.outbox_id))
    if (outcome === 'stored') {
      this.queues.acked(sent)
      this.acked.push(sent.outbox_id)
    } else if (outcome === 'refused') {
      const entry = this.table[Number(sent.outbox_id) - 1]!
      entry.availableAt = this.now + 500
      this.queues.hold(sent, this.now + 500, this.now)
    } else {
      this.queues.again(sent)
    }
  }

  private store(id: number): void {
    if (!this.stored.includes(id)) this.stored.push(id)
  }

  settle(): void {
    for (const id of this.acked) this.table[Number(id) - 1]!.published = true
    this.queues.settled(this.acked)
    this.acked = []
  }

  commitOne(): void {
    const hidden = this.table.find((entry) => !entry.visible)
    if (hidden !== undefined) hidden.visible = true
  }

  loseLane(lane: number): void {
    this.queues.dropLanes(new Set([lane]))
    this.flying = this.flying.filter((sent) => sent.lane !== lane)
    this.acked = this.acked.filter((id) => this.table[Number(id) - 1]!.execution % 4 !== lane)
    this.front = 0
  }

  finish(): void {
    for (let round = 0; round < 2_000; round++) {
      if (this.table.every((entry) => entry.published)) return
      this.commitOne()
      this.now += 300
      this.read(50)
      this.send(50)
      while (this.flying.length > 0) this.answer(0, 'stored')
      this.settle()
    }
    const left = this.table.filter((entry) => !entry.published).map((entry) => entry.id)
    throw new Error(`stuck: ${left.join(', ')}`)
  }
}

describe('random schedules', () => {
  it('lose nothing, leave nothing stuck and keep the order of each execution', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ execution: fc.integer({ min: 1, max: 5 }), late: fc.boolean() }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.array(steps, { maxLength: 120 }),
        (rows, schedule) => {
          const world = new World(rows)
          // An order is only promised among rows that were visible together from the start.
          const fromStart = new Set(world.table.filter((entry) => entry.visible).map((entry) => entry.id))
          for (const step of schedule) {
            if (step.kind === 'read') world.read(step.limit)
            else if (step.kind === 'send') world.send(step.count)
            else if (step.kind === 'answer') world.answer(step.which, step.outcome)
            else if (step.kind === 'settle') world.settle()
            else if (step.kind === 'time') world.now += step.ms
            else if (step.kind === 'commit') world.commitOne()
            else world.loseLane(step.lane)
          }
          world.finish()
          expect([...world.stored].sort((a, b) => a - b)).toEqual(world.table.map((entry) => entry.id))
          for (const execution of new Set(rows.map((entry) => entry.execution))) {
            const order = world.stored.filter((id) => fromStart.has(id) && world.table[id - 1]!.execution === execution)
            expect(order).toEqual([...order].sort((a, b) => a - b))
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
