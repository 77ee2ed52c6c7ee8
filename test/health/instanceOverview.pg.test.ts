// Promise: nobody waits on the overview for what waits behind a pause. A NATS that stands still keeps that question open; the
// rest of the overview has its answer all the same, and tells of the pause when it is known.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { createInstanceOverview } from '../../src/services/health/instanceOverview.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(() => core.close())

it('answers while what a paused subscription has waiting is still asked for', async () => {
  await database
    .get()
    .sql(
      `insert into noetl.subscription (subscription_id, path, catalog_id, state, mode) values (7, 'tests/paused', 1, 'PAUSED', 'pull')`,
    )
  let asked = 0
  const stands = new Proxy(
    {},
    {
      get: () => () => {
        asked += 1
        return new Promise(() => undefined)
      },
    },
  )
  const instance = createInstanceOverview({
    databases: core.databases,
    documents: stands as never,
    bus: { ...(stands as object), isConnected: () => true } as never,
    health: { report: () => ({ ready: true, checks: [] }) },
    clock: systemClock,
  })
  // Had it waited, it would wait for ever.
  const { value } = await instance()
  expect(value).toMatchObject({ ready: true, pausedBacklogs: [], shards: [{ shard: 0 }] })
  await until('the question is open', () => asked > 0)
  expect((await instance()).value.pausedBacklogs).toEqual([])
})
