// Promise: a seed repeats its faults exactly, every kind comes before any comes twice, and what cannot be done here is
// left out and not replaced in silence.
import { describe, expect, it } from 'vitest'
import { FAULT_KINDS, planFaults } from './plan.js'
import { randomFrom } from './random.js'

const options = { seed: 'a', rounds: 40, overlap: 0.3, restSeconds: [1, 2] as const }

describe('the plan', () => {
  it('follows from the seed alone', () => {
    expect(planFaults(options)).toEqual(planFaults(options))
    expect(planFaults({ ...options, seed: 'b' })).not.toEqual(planFaults(options))
  })

  it('has every kind before it repeats one', () => {
    const names = planFaults({ ...options, overlap: 0, rounds: FAULT_KINDS.length }).map(
      ({ faults }) => faults[0]!.name,
    )
    expect(new Set(names).size).toBe(FAULT_KINDS.length)
  })

  it('leaves out what it is told to', () => {
    const rounds = planFaults({ ...options, without: ['nats disk full'] })
    expect(rounds.flatMap(({ faults }) => faults.map(({ name }) => name))).not.toContain('nats disk full')
  })

  it('never hits the same kind of thing twice at once, and leaves alone what must be', () => {
    const targetOf = (name: string) => FAULT_KINDS.find((kind) => kind.name === name)!.target
    for (const { faults } of planFaults({ ...options, overlap: 1, rounds: 500 })) {
      const alone = faults.find(({ name }) => name === 'nats restored')
      expect(faults).toHaveLength(alone === undefined ? 2 : 1)
      if (alone === undefined) expect(targetOf(faults[0]!.name)).not.toBe(targetOf(faults[1]!.name))
    }
  })

  it('keeps every length within its kind', () => {
    for (const { faults } of planFaults({ ...options, rounds: 300 })) {
      for (const { name, seconds } of faults) {
        const [from, to] = FAULT_KINDS.find((kind) => kind.name === name)!.seconds
        expect(seconds).toBeGreaterThanOrEqual(from)
        expect(seconds).toBeLessThanOrEqual(to)
      }
    }
  })
})

describe('streams of randomness', () => {
  it('do not disturb each other', () => {
    const draw = (extra: number): number[] => {
      const random = randomFrom('x')
      const [left, right] = [random.fork('left'), random.fork('right')]
      for (let n = 0; n < extra; n++) left.next()
      return [right.next(), right.next()]
    }
    expect(draw(0)).toEqual(draw(7))
  })
})
