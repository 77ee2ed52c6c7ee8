// Promise: whatever order of reads, acknowledgements, refusals, pauses, commits and lane changes, the reader and its
// queues send every row at least once, and rows of one execution are first stored in id order. The real reader reads
// a table in memory; the broker is a list of what is on its way.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/runtime/clock.js'
import { createExecutionQueues } from '../../../src/services/outbox/relay/executionQueues.js'
import { createReader } from '../../../src/services/outbox/relay/reader.js'
import type { OutboxReads, OutboxRow } from '../../../src/stores/outbox/outboxStore.js'
import { row, TEST_LANES } from './rows.js'

type Step =
  | { kind: 'read' }
  | { kind: 'send'; count: number }
  | { kind: 'answer'; which: number; outcome: 'stored' | 'unknown' | 'refused' | 'paused' }
  | { kind: 'settle' }
  | { kind: 'time'; ms: number }
  | { kind: 'commit' }
  | { kind: 'loseLane'; lane: number }

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('loseLane' as const), lane: fc.constantFrom(...TEST_LANES) }) },
)

interface Entry {
  id: number
  execution: number
  visible: boolean
  published: boolean
  availableAt: number
}

/** A table and a broker around the real reader and its queues. */
class World {
  readonly queues = createExecutionQueues()
  readonly table: Entry[] = []
  readonly stored: number[] = []
  private flying: OutboxRow[] = []
  private acked: string[] = []
  private readonly signal = new AbortController().signal
  private readonly reader
  now = 0

  constructor(rows: readonly { execution: number; late: boolean }[], page: number) {
    for (const [index, { execution, late }] of rows.entries()) {
      this.table.push({ id: index + 1, execution, visible: !late, published: false, availableAt: 0 })
    }
    this.reader = createReader({
      table: this.reads(),
      clock: { monotonic: () => this.now } as Clock,
      queues: this.queues,
      lanes: { usable: () => TEST_LANES },
      onUnanswered: () => undefined,
      limits: { page, bufferMax: 4 * page, deadPolicy: 'release' },
    })
  }

  private reads(): OutboxReads {
    const unsettled = () => this.table.filter((entry) => entry.visible && !entry.published)
    const toRow = (entry: Entry): OutboxRow => row(entry.id, entry.execution, Math.max(0, entry.availableAt - this.now))
    const isOf = (executions: readonly string[]) => (entry: Entry) => executions.includes(String(entry.execution))
    return {
      unsettled: async (afterId, visit) =>
        unsettled()
          .filter(({ id }) => id > Number(afterId))
          .slice(0, visit)
          .map(toRow),
      sweep: async ({ after, upTo, visit }) =>
        unsettled()
          .filter(({ id }) => id > Number(after) && id <= Number(upTo))
          .slice(0, visit)
          .map((entry) => ({
            outbox_id: String(entry.id),
            execution_id: String(entry.execution),
            due: entry.availableAt <= this.now,
            owned: true,
          })),
      earlierIds: async (executions, upToId) =>
        unsettled()
          .filter(isOf(executions))
          .filter(({ id }) => id <= Number(upToId))
          .map(({ id }) => String(id)),
      rows: async (ids) =>
        unsettled()
          .filter(({ id }) => ids.includes(String(id)))
          .map(toRow),
      execution: async (executionId, limit) =>
        unsettled()
          .filter(isOf([executionId]))
          .slice(0, limit)
          .map(toRow),
      deadExecutions: async () => [],
    }
  }

  async read(): Promise<void> {
    await this.reader.pass(this.signal)
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
      this.table[Number(sent.outbox_id) - 1]!.availableAt = this.now + 500
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
    this.reader.forgetDuringRead(this.acked)
    this.acked = []
  }

  commitOne(): void {
    const hidden = this.table.find((entry) => !entry.visible)
    if (hidden !== undefined) hidden.visible = true
  }

  /** Lost and taken again at once: the rows of the lane are read anew. */
  loseLane(lane: number): void {
    this.queues.dropLanes(new Set([lane]))
    this.flying = this.flying.filter((sent) => sent.lane !== lane)
    this.acked = this.acked.filter((id) => this.table[Number(id) - 1]!.execution % TEST_LANES.length !== lane)
    this.reader.restart([lane])
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'read') await this.read()
    else if (step.kind === 'send') this.send(step.count)
    else if (step.kind === 'answer') this.answer(step.which, step.outcome)
    else if (step.kind === 'settle') this.settle()
    else if (step.kind === 'time') this.now += step.ms
    else if (step.kind === 'commit') this.commitOne()
    else this.loseLane(step.lane)
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 2_000; round++) {
      if (this.table.every((entry) => entry.published)) return
      this.commitOne()
      this.now += 300
      await this.read()
      this.send(50)
      while (this.flying.length > 0) this.answer(0, 'stored')
      this.settle()
    }
    const left = this.table.filter((entry) => !entry.published).map((entry) => entry.id)
    throw new Error(`stuck: ${left.join(', ')}`)
  }
}

describe('random schedules', () => {
  it('lose nothing, leave nothing stuck and keep the order of each execution', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ execution: fc.integer({ min: 1, max: 5 }), late: fc.boolean() }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.array(steps, { maxLength: 120 }),
        fc.integer({ min: 1, max: 8 }),
        async (rows, schedule, page) => {
          const world = new World(rows, page)
          // An order is only promised among rows that were visible together from the start.
          const fromStart = new Set(world.table.filter((entry) => entry.visible).map((entry) => entry.id))
          for (const step of schedule) await world.run(step)
          await world.finish()
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
