// Promise: growth of memory and handles is told from warming up, and is named.
import { describe, expect, it } from 'vitest'
import { judgeVitals, type Sample, summarise } from './vitals.js'

const life = (rssMb: (at: number) => number, handles: (at: number) => number = () => 70): Sample[] =>
  Array.from({ length: 600 }, (_, at) => ({ at, daemon: 'a', pid: 1, rssMb: rssMb(at), handles: handles(at) }))

describe('vitals', () => {
  it('of a process that warms up and then stays flat are fine', () => {
    const summary = summarise(life((at) => Math.min(200, 100 + at) + (at % 7)))
    expect(summary.memorySlopeMbPerMinute).toBeCloseTo(0, 0)
    expect(judgeVitals(summary)).toEqual([])
  })

  it('find a leak of memory, and one of handles', () => {
    expect(judgeVitals(summarise(life((at) => 150 + at / 20)))).toMatchObject([{ kind: 'memory grows' }])
    expect(
      judgeVitals(
        summarise(
          life(
            () => 150,
            (at) => 70 + at / 5,
          ),
        ),
      ),
    ).toMatchObject([{ kind: 'handles grow' }])
  })

  it('follow the process that lived longest, and say so when none did', () => {
    const short = life(() => 150).slice(0, 10)
    expect(summarise(short).memorySlopeMbPerMinute).toBeUndefined()
    const restarted = [...short.map((sample) => ({ ...sample, pid: 2 })), ...life((at) => 100 + at / 60)]
    expect(summarise(restarted).memorySlopeMbPerMinute).toBeCloseTo(1, 1)
  })
})
