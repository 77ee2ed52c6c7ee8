// Promise: one item that is refused costs the others nothing, and trouble of our own servers ends the trying.
import { describe, expect, it } from 'vitest'
import { CpError } from '../../src/errors.js'
import { answerJobs, isolateRefused } from '../../src/runtime/isolateRefused.js'

function counting(answer: (item: number) => string) {
  const calls: number[][] = []
  return {
    calls,
    attempt: async (items: readonly number[]) => {
      calls.push([...items])
      return items.map(answer)
    },
  }
}
const refuse = (item: number): string => {
  if (item === 2) throw new CpError('invalid_input', 'two is refused')
  return `done ${item}`
}

describe('isolateRefused', () => {
  it('tries all at once, and nothing at all for nothing', async () => {
    const { attempt, calls } = counting((item) => `done ${item}`)
    expect(await isolateRefused([1, 2, 3], attempt)).toEqual(['done 1', 'done 2', 'done 3'])
    expect(await isolateRefused([], attempt)).toEqual([])
    expect(calls).toEqual([[1, 2, 3]])
  })
  it('finds the one that is refused', async () => {
    const { attempt, calls } = counting(refuse)
    const answers = await isolateRefused([1, 2, 3], attempt)
    expect([answers[0], answers[2]]).toEqual(['done 1', 'done 3'])
    expect(answers[1]).toMatchObject({ code: 'invalid_input', message: 'two is refused' })
    expect(calls).toEqual([[1, 2, 3], [1], [2], [3]])
  })
  it('tries nothing more while our own servers are in trouble', async () => {
    const whole = counting(() => {
      throw new CpError('unavailable', 'no database')
    })
    expect((await isolateRefused([1, 2], whole.attempt)).map((answer) => (answer as CpError).code)).toEqual([
      'unavailable',
      'unavailable',
    ])
    expect(whole.calls).toEqual([[1, 2]])

    const midway = counting((item) => {
      if (item === 2) throw new CpError(midway.calls.length === 1 ? 'invalid_input' : 'unavailable', 'two')
      return `done ${item}`
    })
    const answers = await isolateRefused([1, 2, 3], midway.attempt)
    expect(answers[0]).toBe('done 1')
    expect(answers.slice(1).map((answer) => (answer as CpError).code)).toEqual(['unavailable', 'unavailable'])
    expect(midway.calls).toEqual([[1, 2, 3], [1], [2]])
  })
  it('answers each who waits', async () => {
    const told: string[] = []
    const jobs = [1, 2].map((item) => ({
      item,
      resolve: (answer: string) => told.push(answer),
      reject: (error: CpError) => told.push(error.message),
    }))
    await answerJobs(jobs, async (some) => some.map(({ item }) => refuse(item)))
    expect(told).toEqual(['done 1', 'two is refused'])
  })
})
