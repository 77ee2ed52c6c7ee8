// Promise: whatever the clock does, ids only ever go up, none is given twice, and no call waits.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BORROW_MAX_MS,
  CLOCK_STEP_MAX_MS,
  createIdGenerator,
  OBSERVE_AHEAD_MAX_MS,
} from '../../src/domain/ids/idGenerator.js'
import { composeSnowflake, decomposeSnowflake, SNOWFLAKE_EPOCH_MS } from '../../src/domain/ids/snowflake.js'
import { CpError } from '../../src/errors.js'
import { idVectors } from './idVectors.js'

const T = 1_780_488_000_000

function withClock(start: number, machineId = 7) {
  const clock = { ms: start }
  return { clock, generator: createIdGenerator({ machineId, now: () => clock.ms }) }
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof CpError) return error.code
    throw error
  }
  return 'none'
}

describe('traces of the NoETL server', () => {
  it.each(idVectors.generator_traces.filter((trace) => trace.ids))('$name', ({ machine_id, clock_readings, ids }) => {
    const readings = (clock_readings ?? []).map(Number)
    const generator = createIdGenerator({ machineId: machine_id, now: () => readings.shift() as number })
    expect((ids ?? []).map(() => generator.nextOne())).toEqual(ids)
  })

  it('overflow gives the same ids without waiting for the clock', () => {
    const trace = idVectors.generator_traces.find(({ name }) => name === 'overflow')
    const { generator, clock } = withClock(T)
    const ids = Array.from({ length: 4097 }, () => generator.nextOne())
    expect(clock.ms).toBe(T)
    clock.ms = T + 1
    ids.push(generator.nextOne())
    expect([ids[0], ids[4095], ids[4096], ids[4097]]).toEqual([
      trace?.id_0,
      trace?.id_4095,
      trace?.id_4096,
      trace?.id_4097,
    ])
  })
})

describe('order', () => {
  const step = fc.oneof(
    fc.record({ move: fc.integer({ min: -12_000, max: 12_000 }), count: fc.integer({ min: 1, max: 9000 }) }),
    fc.record({ see: fc.integer({ min: -20_000, max: 20_000 }), machine: fc.nat(1023), sequence: fc.nat(4095) }),
  )

  it('rises strictly over any clock, any batch size and any observed id', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(1023), (steps, machineId) => {
        const { clock, generator } = withClock(T, machineId)
        let last = -1n
        for (const one of steps) {
          if ('see' in one) {
            const seen = composeSnowflake(clock.ms + one.see, one.machine, one.sequence)
            if (generator.observe(seen) && seen > last) last = seen
            continue
          }
          clock.ms += one.move
          try {
            for (const id of generator.next(one.count).map(BigInt)) {
              if (id <= last) throw new Error(`${id} after ${last}`)
              if (decomposeSnowflake(id).machineId !== machineId) throw new Error('foreign machine id')
              last = id
            }
          } catch (error) {
            if (!(error instanceof CpError)) throw error
          }
        }
        expect(generator.highWater() >= last).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('gives a batch in one piece', () => {
    const { generator } = withClock(T)
    const ids = generator.next(10_000)
    expect(new Set(ids).size).toBe(10_000)
    expect(ids[0]).toBe(composeSnowflake(T, 7, 0).toString())
    expect(ids[9_999]).toBe(composeSnowflake(T + 2, 7, 9_999 - 2 * 4096).toString())
    expect(generator.counters()).toMatchObject({ minted: 10_000, aheadMs: 2 })
  })

  it.each([0, -1, 1.5, Number.NaN])('refuses a batch of %d', (count) => {
    expect(codeOf(() => withClock(T).generator.next(count))).toBe('invalid_input')
  })
})

describe('a clock that falls back', () => {
  it('is absorbed up to the limit', () => {
    const { clock, generator } = withClock(T)
    const first = BigInt(generator.nextOne())
    clock.ms = T - CLOCK_STEP_MAX_MS
    expect(BigInt(generator.nextOne())).toBe(first + 1n)
    expect(generator.counters()).toMatchObject({ backwardSteps: 1, clockRefusals: 0 })
  })

  it('is refused beyond it, counted, and served again once it has caught up', () => {
    const { clock, generator } = withClock(T)
    const first = BigInt(generator.nextOne())
    clock.ms = T - CLOCK_STEP_MAX_MS - 1
    expect(codeOf(() => generator.nextOne())).toBe('unavailable')
    expect(() => generator.nextOne()).toThrowError(/fell back by 10001 ms.*(correct|wait)/)
    expect(generator.counters().clockRefusals).toBe(2)
    clock.ms = T - 5
    expect(BigInt(generator.nextOne()) > first).toBe(true)
  })

  it.each([SNOWFLAKE_EPOCH_MS - 1, 0, -5, Number.NaN, 4e12])('is refused at %d', (ms) => {
    const { generator } = withClock(ms)
    expect(codeOf(() => generator.nextOne())).toBe('unavailable')
    expect(generator.counters().clockRefusals).toBe(1)
  })
})

describe('a burst', () => {
  it('borrows a bounded time and leaves nothing half taken', () => {
    const { clock, generator } = withClock(T)
    const room = (BORROW_MAX_MS + 1) * 4096
    expect(codeOf(() => generator.next(room + 1))).toBe('overloaded')
    expect(generator.counters()).toMatchObject({ minted: 0, overloadRefusals: 1 })
    generator.next(room)
    expect(codeOf(() => generator.nextOne())).toBe('overloaded')
    clock.ms += 1
    expect(generator.next(4096)).toHaveLength(4096)
    expect(codeOf(() => generator.nextOne())).toBe('overloaded')
  })
})

describe('observed ids', () => {
  it.each([3, 7, 900])('are left behind whatever their machine (%d)', (machine) => {
    const { generator } = withClock(T)
    const seen = composeSnowflake(T + 4, machine, 9)
    expect(generator.observe(seen)).toBe(true)
    const id = BigInt(generator.nextOne())
    expect(id > seen).toBe(true)
    expect(id - seen < 1n << 22n).toBe(true)
  })

  it('do not drag the generator along when they are far ahead', () => {
    const { generator } = withClock(T)
    expect(generator.observe(composeSnowflake(T + OBSERVE_AHEAD_MAX_MS + 1, 1, 0))).toBe(false)
    // The database function's ids look decades ahead in this layout.
    expect(generator.observe(761042461220143106n)).toBe(false)
    expect(decomposeSnowflake(BigInt(generator.nextOne())).unixMs).toBe(T)
    expect(generator.counters().observedTooFarAhead).toBe(2)
  })

  it('carry a restart over a clock that was ahead', () => {
    const before = withClock(T)
    const last = before.generator.next(20_000).at(-1) as string
    const after = withClock(T)
    after.generator.observe(before.generator.highWater())
    expect(BigInt(after.generator.nextOne()) > BigInt(last)).toBe(true)
  })
})

describe('a lost lease', () => {
  it('stops minting before anything is taken', () => {
    let held = true
    const generator = createIdGenerator({
      machineId: 1,
      now: () => T,
      mayMint: () => {
        if (!held) throw new CpError('lost_claim', 'the machine lease is lost')
      },
    })
    generator.nextOne()
    held = false
    expect(codeOf(() => generator.nextOne())).toBe('lost_claim')
    expect(generator.counters().minted).toBe(1)
  })

  it('and a slot outside the range is never accepted', () => {
    expect(codeOf(() => createIdGenerator({ machineId: 1024, now: () => T }))).toBe('invalid_input')
  })
})
