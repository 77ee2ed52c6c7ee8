// Promise: growth of memory and handles is told from warming up, and is named.
import { describe, expect, it } from 'vitest'
import { judgeVitals, type Sample, summarise } from './vitals.js'

const life = (
  memory: (at: number) => number,
  {
    resident = (at) => 100 + memory(at),
    handles = () => 70,
    pid = 1,
  }: Partial<Record<'resident' | 'handles', (at: number) => number>> & { pid?: number } = {},
): Sample[] =>
  Array.from({ length: 600 }, (_, at) => ({
    at,
    daemon: 'a',
    pid,
    rssMb: resident(at),
    liveMb: memory(at),
    handles: handles(at),
  }))

describe('vitals', () => {
  it('of a process that warms up and then stays flat are fine', () => {
    const summary = summarise(life((at) => Math.min(200, 100 + at) + (at % 7)))
    expect(summary.liveSlopeMbPerMinute).toBeCloseTo(0, 0)
    expect(judgeVitals(summary)).toEqual([])
  })

  it('are fine when V8 takes and gives back memory around what is alive', () => {
    const summary = summarise(life(() => 60, { resident: (at) => 250 + 40 * Math.sin(at / 50) + at / 60 }))
    expect(judgeVitals(summary)).toEqual([])
  })

  it('find a leak of memory inside and outside the heaps, and one of handles', () => {
    const inside = life((at) => 60 + at / 20, { resident: () => 300 })
    expect(judgeVitals(summarise(inside))).toMatchObject([{ kind: 'memory grows' }])
    const outside = life(() => 60, { resident: (at) => 200 + at / 5 })
    expect(judgeVitals(summarise(outside))).toMatchObject([{ kind: 'memory grows' }])
    const handles = life(() => 60, { handles: (at) => 70 + at / 5 })
    expect(judgeVitals(summarise(handles))).toMatchObject([{ kind: 'handles grow' }])
  })

  it('look at every process that lived long, and say so when none did', () => {
    const short = life(() => 150).slice(0, 10)
    expect(summarise(short).liveSlopeMbPerMinute).toBeUndefined()
    expect(judgeVitals(summarise(short))).toMatchObject([{ kind: 'memory grows' }])
    const restarted = [...short.map((sample) => ({ ...sample, pid: 2 })), ...life((at) => 100 + at / 60)]
    expect(summarise(restarted).liveSlopeMbPerMinute).toBeCloseTo(1, 1)
    const leaking = life((at) => 60 + at / 20, { pid: 3 }).slice(0, 500)
    expect(judgeVitals(summarise([...life(() => 60), ...leaking]))).toMatchObject([{ kind: 'memory grows' }])
  })
})
