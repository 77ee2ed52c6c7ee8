// Promise: durations are told as people read them, and no unit is ever full: no minute has 60 seconds.
import { expect, it } from 'vitest'
import { consoleModule } from '../support/consoleModule.js'

const { lasted } = await consoleModule('lib/time.ts')

it.each([
  [0, '0 ms'],
  [0.254, '0.25 ms'],
  [999.7, '999 ms'],
  [2_679, '2.67 s'],
  [9_999, '9.99 s'],
  [59_999, '59.9 s'],
  [243_999, '4 m 03 s'],
  [3_599_999, '59 m 59 s'],
  [7_500_000, '2 h 05 m'],
  [86_399_999, '23 h 59 m'],
  [273_600_000, '3 d 4 h'],
])('of %d ms: %s', (ms, text) => {
  expect(lasted(ms)).toBe(text)
})
