// Promise: an answer is made once for all who ask while it is made or fresh, anew when it is old, and a failure is not kept.
import { expect, it } from 'vitest'
import { sharedAnswer } from '../../src/runtime/sharedAnswer.js'

it('is made once at a time and kept for its time', async () => {
  let now = 1_000
  let made = 0
  const clock = { now: () => now, monotonic: () => now }
  let finish: () => void = () => undefined
  const ask = sharedAnswer(clock, 100, async () => {
    made++
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return made
  })
  const first = ask()
  now += 500
  const second = ask()
  finish()
  expect(await first).toEqual({ value: 1, madeAt: 1_500 })
  expect(await second).toEqual({ value: 1, madeAt: 1_500 })
  now += 99
  expect((await ask()).value).toBe(1)
  now += 1
  const third = ask()
  finish()
  expect((await third).value).toBe(2)
})

it('asks again after a failure', async () => {
  let tries = 0
  const ask = sharedAnswer({ now: () => 0, monotonic: () => 0 }, 100, async () => {
    tries++
    if (tries === 1) throw new Error('away')
    return tries
  })
  await expect(ask()).rejects.toThrow('away')
  expect((await ask()).value).toBe(2)
})
