// Promise: claims of limited pools take turns with one connection, and none waits for long: it is told to come again.
import { expect, it } from 'vitest'
import type { Databases } from '../../src/db/databases.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createCommandLimits } from '../../src/services/commands/commandLimits.js'
import { until } from '../support/until.js'

it('one that has waited too long is refused when its turn comes, and those behind it go on', async () => {
  let now = 0
  let open = 0
  let most = 0
  const limit = { scope: 'pool', name: 'small', commands_max: 2, paused_at: null, reason: null }
  const db = {
    run: async () => [limit],
    tx: async (work: (tx: unknown) => Promise<unknown>) => {
      most = Math.max(most, ++open)
      return work({ run: async () => [] }).finally(() => open--)
    },
  }
  const databases = { cluster: { db }, fanOut: async () => ({ answers: [], failures: [] }) } as unknown as Databases
  const limits = createCommandLimits({ databases, clock: { ...systemClock, monotonic: () => now } })
  let end: (() => void) | undefined
  const first = limits.within(
    ['small'],
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )
  await until('the first has its turn', async () => end !== undefined)
  const second = limits.within(['small'], async () => 'done')
  const refused = expect(second).rejects.toMatchObject({ code: 'overloaded' })
  // Once it has asked what is limited, it waits.
  await new Promise((resolve) => setImmediate(resolve))
  now = 11_000
  end!()
  await first
  await refused
  expect(await limits.within(['small'], async () => 'done')).toBe('done')
  expect(most).toBe(1)
})
