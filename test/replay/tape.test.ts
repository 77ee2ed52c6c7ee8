// Promise: a tape that was followed piece by piece is the one that is read at once, wherever it was cut and however it is
// written: every event, every mark of every span, every name. A late event shows that places have moved.
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { Keyframes } from '../../src/domain/replay/keyframes/keyframes.js'
import { continues, decodeTape, growTape, OUTCOMES, type Tape } from '../../src/domain/tape/decodeTape.js'
import { encodeTape } from '../../src/domain/tape/encodeTape.js'
import { GrowingColumn } from '../../src/domain/tape/growingColumn.js'
import { GrowingIds } from '../../src/domain/tape/growingIds.js'
import { TapeRecorder } from '../../src/domain/tape/tapeRecorder.js'
import { withPassingBytes } from '../../src/services/replay/inThread/passingBytes.js'
import { readBenchLog } from './replayVectors.js'

const WHOSE = { tenantId: 'default', organizationId: 'default', executionId: 1, upcasterRegistryDigest: 'none' }
const EVENTS = 3_000
const START_MS = Date.UTC(2026, 0, 1)

let log: JsonObject[]
beforeAll(() => {
  log = (readBenchLog()['events'] as JsonObject[]).slice(0, EVENTS)
})

/** Clocks may go back: the last events are older than the first. */
function timeOf(index: number): number {
  return index < EVENTS - 10 ? START_MS + index * 7.25 : START_MS - index
}

class Recording {
  private readonly keyframes = new Keyframes(WHOSE, EVENTS, 1e9)
  private readonly tape = new TapeRecorder(this.keyframes.shared.index)

  constructor(private readonly events = log) {}

  recordTo(length: number): this {
    for (let index = this.tape.length; index < length; index++) {
      this.keyframes.append(this.events[index]!)
      this.tape.add(this.keyframes.view, timeOf(index), index + 1)
    }
    return this
  }

  read(from: number, epoch = 'a.0', to = EVENTS): Tape {
    const clean = (name: string): string => name
    const bytes = encodeTape(this.tape, { executionId: '1', epoch, total: EVENTS, level: 'full', from, to, clean })
    return decodeTape(bytes.buffer as ArrayBuffer)
  }
}

/** What a reader sees, whatever the widths of the columns. */
function seen({ head, columns, keys }: Tape) {
  const { keys: _, time, ...rest } = columns
  return {
    names: [head.types, head.steps, head.statuses, head.workers, head.pools],
    place: [head.from, head.to, head.total],
    times: Array.from(time!, (ms) => ms + head.base_ms),
    columns: Object.fromEntries(Object.entries(rest).map(([name, values]) => [name, Array.from(values)])),
    keys: keys(),
  }
}

describe('a tape', () => {
  it('that grew piece by piece is the one that is read at once', () => {
    const live = new Recording()
    let grown = live.recordTo(1).read(1)
    for (const length of [2, 300, 300, 1_001, 2_995, EVENTS]) {
      const piece = live.recordTo(length).read(grown.head.to + 1)
      expect(continues(grown, piece)).toBe(true)
      grown = growTape(grown, piece)
    }
    const whole = seen(new Recording().recordTo(EVENTS).read(1))
    expect(seen(grown)).toEqual(whole)
    expect(whole.keys).toContain('command:900120')
    expect(whole.times.at(-1)).toBe(START_MS - EVENTS + 1)
  })

  it('has steps that failed as failed, also where they are left by an event that only its status tells of', () => {
    const step = (event_type: string, status: string, event_id: number): JsonObject => ({
      ...{ event_id, execution_id: 1, event_type, node_name: 'pay', status, created_at: '2026-01-01T00:00:00Z' },
    })
    const outcomes = (status: string): (string | undefined)[] => {
      const events = [step('step.enter', 'RUNNING', 1), step('step.exit', status, 2)]
      const { columns } = new Recording(events).recordTo(2).read(1, 'a.0', 2)
      return Array.from(columns['span_outcome']!, (outcome) => OUTCOMES[outcome])
    }
    expect(outcomes('FAILED')).toEqual(['failed'])
    expect(outcomes('COMPLETED')).toEqual(['completed'])
  })

  it('is not continued by a piece of another epoch, nor by one that begins elsewhere', () => {
    const live = new Recording().recordTo(100)
    const tape = live.read(1)
    live.recordTo(200)
    expect(continues(tape, live.read(101, 'a.1'))).toBe(false)
    expect(continues(tape, live.read(102))).toBe(false)
    expect(continues(tape, live.read(101))).toBe(true)
  })

  it('tells the pool of a command, and what it is a part of: its loop, or else its step', () => {
    const common = { event_id: 1, status: 'PENDING', node_name: 'fetch' }
    const issued = (meta: JsonObject): JsonObject => ({
      ...common,
      event_type: 'command.issued',
      meta: { command_id: `c${String(meta['execution_pool'])}`, ...meta },
    })
    const events = [
      { ...common, event_type: 'step.enter', meta: {} },
      issued({ execution_pool: 'gpu' }),
      issued({ execution_pool: 'cpu', loop_id: '7' }),
      { ...common, event_type: 'command.completed', meta: { command_id: 'cgpu' } },
    ].map((event, index) => ({ ...event, event_id: index + 1 }))
    const { head, columns, keys } = new Recording(events).recordTo(events.length).read(1)
    const nameOf = (span: number): string => keys()[columns['span_key']![span]!]!
    const told = Array.from(columns['span_key']!, (_, span) => [
      nameOf(span),
      head.pools[columns['span_pool']![span]!],
      columns['span_parent']![span] === 0 ? '' : nameOf(columns['span_parent']![span]! - 1),
    ])
    expect(told).toEqual([
      ['step:fetch', '', ''],
      ['command:cgpu', 'gpu', 'step:fetch'],
      ['loop:7', '', ''],
      ['command:ccpu', 'cpu', 'loop:7'],
    ])
  })

  it('names in a window of it what it names in all of it', () => {
    const whole = new Recording().recordTo(EVENTS)
    const window = whole.read(1_500, 'a.0', 1_600)
    const numbers = window.columns['span_number']!
    const all = whole.read(1)
    const nameIn = (tape: Tape, span: number): string => tape.keys()[tape.columns['span_key']![span]!]!
    expect(numbers.length).toBeGreaterThan(10)
    for (const [span, number] of numbers.entries()) expect(nameIn(window, span)).toBe(nameIn(all, number))
  })
})

describe('a column of a tape', () => {
  const LENGTH = 100_001
  const filled = (numberAt: (index: number) => number): GrowingColumn => {
    const column = GrowingColumn.ofWhole()
    for (let index = 0; index < LENGTH; index++) column.push(numberAt(index))
    return column
  }
  const read = (column: GrowingColumn, from = 0, to = column.length): number[] => {
    const values = new Float64Array(to - from)
    column.copy(values, from, to)
    return Array.from(values)
  }

  it('has every number as it was put, of any size, wherever it is cut and goes on', () => {
    const wide = [255, 256, 65_535, 65_536, 4_294_967_295]
    const expected = Array.from({ length: LENGTH }, (_, index) => (index * 7_919) % 200)
    const column = filled((index) => expected[index]!)
    const put = (index: number, value: number): void => {
      expected[index] = value
      column.set(index, value)
    }
    for (const [turn, value] of wide.entries()) put(turn * 20_000 + 8_191, value)
    for (const value of wide) {
      expected.push(value)
      column.push(value)
    }
    expect(read(column)).toEqual(expected)
    for (const kept of [90_000, 8_193, 8_192, 5, 0]) {
      column.cut(kept)
      expected.length = kept
      for (const value of [1, ...wide, 2]) {
        expected.push(value)
        column.push(value)
      }
      expect(read(column)).toEqual(expected)
      expect(read(column, kept, kept + 3)).toEqual(expected.slice(kept, kept + 3))
    }
  })

  it('takes the memory of what it has, and of the largest numbers only where they are', () => {
    expect(filled(() => 255).bytes).toBeLessThan(LENGTH * 1.1)
    expect(filled((index) => (index === 50_000 ? 70_000 : 1)).bytes).toBeLessThan(LENGTH * 1.4)
  })

  it('of ids finds each, and the place of those between', () => {
    const ids = new GrowingIds()
    const idOf = (place: number): bigint => 612_345_678_901_236_660n + BigInt(place) * 3n
    for (let place = 1; place <= 5_000; place++) ids.push(idOf(place))
    ids.cut(3_000)
    ids.push(idOf(3_001))
    for (const place of [1, 1_024, 1_025, 2_048, 3_001]) {
      expect(ids.at(place)).toBe(idOf(place))
      expect([ids.upTo(idOf(place)), ids.upTo(idOf(place) + 1n), ids.upTo(idOf(place) - 1n)]).toEqual([
        place,
        place,
        place - 1,
      ])
    }
    expect([ids.has(idOf(3_001)), ids.has(idOf(3_002)), ids.has(idOf(2) + 1n)]).toEqual([true, false, false])
    expect(ids.bytes).toBeLessThan(3_001 * 8 * 1.4)
  })
})

describe('bytes that are needed for a moment', () => {
  it('are given back when the work is done, and when it fails', () => {
    const made: Uint8Array[] = []
    const work = (make: (length: number) => Uint8Array): number => made.push(make(1_000).fill(7))
    expect(withPassingBytes(work)).toBe(1)
    expect(() =>
      withPassingBytes((make) => {
        work(make)
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(made.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0])
  })
})
