// Promise: a schedule starts once per moment in its time zone, over both clock changes; what was missed is made up for as it says.
import { expect, it } from 'vitest'
import { lastTicks, nextTick, type Schedule, scheduleOf, ticksToStart } from '../../src/domain/schedules/schedule.js'

function ticksBetween(schedule: Schedule, afterMs: number, untilMs: number, max: number): number[] {
  const walk = lastTicks(schedule, afterMs, untilMs, max)
  for (let step = walk.next(); ; step = walk.next()) if (step.done === true) return step.value
}

const of = (schedule: Record<string, string>): Schedule => scheduleOf({ metadata: { schedule } })!
const iso = (ms: number | undefined): string => new Date(ms!).toISOString()
const at = (text: string): number => Date.parse(text)

it('keeps the local hour when clocks change', () => {
  const daily = of({ cron: '0 7 * * *', timezone: 'Europe/Zurich' })
  const spring = ticksBetween(daily, at('2026-03-27T12:00:00Z'), at('2026-03-30T12:00:00Z'), 100)
  expect(spring.map(iso)).toEqual(['2026-03-28T06:00:00.000Z', '2026-03-29T05:00:00.000Z', '2026-03-30T05:00:00.000Z'])
  const autumn = ticksBetween(daily, at('2026-10-24T12:00:00Z'), at('2026-10-26T12:00:00Z'), 100)
  expect(autumn.map(iso)).toEqual(['2026-10-25T06:00:00.000Z', '2026-10-26T06:00:00.000Z'])
})

it('starts once a day also in the hour that is left out and in the one that comes twice', () => {
  const nightly = of({ cron: '30 2 * * *', timezone: 'Europe/Zurich' })
  expect(ticksBetween(nightly, at('2026-03-28T12:00:00Z'), at('2026-03-29T12:00:00Z'), 100)).toHaveLength(1)
  expect(ticksBetween(nightly, at('2026-10-24T12:00:00Z'), at('2026-10-25T12:00:00Z'), 100)).toHaveLength(1)
})

it('makes up for what was missed as it says', () => {
  const now = at('2026-11-17T10:05:00Z')
  const started = (missed: string): string[] => {
    const hourly = of({ cron: '0 * * * *', missed })
    return ticksToStart(hourly, ticksBetween(hourly, at('2026-11-17T07:30:00Z'), now, 100), now).map(iso)
  }
  expect(started('once')).toEqual(['2026-11-17T10:00:00.000Z'])
  expect(started('skip')).toEqual([])
  expect(started('all')).toEqual([8, 9, 10].map((hour) => `2026-11-17T${String(hour).padStart(2, '0')}:00:00.000Z`))
})

it('names what is wrong with one', () => {
  expect(() => of({ timezone: 'UTC' })).toThrow('/metadata/schedule/cron is missing')
  expect(() => of({ cron: 'every day' })).toThrow('/metadata/schedule is no schedule')
  expect(() => of({ cron: '0 7 * * *', timezone: 'Mars/Olympus' })).toThrow('/metadata/schedule is no schedule')
  expect(() => of({ cron: '0 7 * * *', missed: 'maybe' })).toThrow('must be one of skip, once, all')
  expect(scheduleOf({ metadata: {} })).toBeUndefined()
  expect(nextTick({ cron: '0 0 30 2 *', timezone: 'UTC' }, 0)).toBeUndefined()
})

it('of a long absence only what is kept is looked for, however many moments were missed', () => {
  const found = (cron: string, from: string, max: number) => {
    let steps = 0
    const walk = lastTicks({ cron, timezone: 'Europe/Berlin' }, at(from), at('2026-11-18T06:00:30Z'), max)
    for (let step = walk.next(); ; step = walk.next(), steps++)
      if (step.done === true) return { steps, ticks: step.value }
  }
  const minutely = found('* * * * *', '2025-11-18T00:00:00Z', 100)
  expect(minutely.ticks).toHaveLength(100)
  expect(minutely.ticks.at(-1)).toBe(at('2026-11-18T06:00:00Z'))
  expect(minutely.ticks[0]).toBe(at('2026-11-18T04:21:00Z'))
  expect(minutely.steps).toBeLessThan(600)
  // Every second of one minute of a day: many lie close together, far from the end.
  const close = found('* 0 3 * * *', '2025-11-18T00:00:00Z', 10)
  expect(close.ticks.map(iso)).toEqual(Array.from({ length: 10 }, (_, n) => `2026-11-18T02:00:5${n}.000Z`))
  expect(close.steps).toBeLessThan(600)
  expect(found('0 0 29 2 *', '2023-11-18T00:00:00Z', 5).ticks.map(iso)).toEqual(['2024-02-28T23:00:00.000Z'])
  expect(found('0 0 1 1 *', '2026-11-18T00:00:00Z', 5).ticks).toEqual([])
})
