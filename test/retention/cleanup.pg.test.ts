// Promise: POST /api/internal/cleanup/purge takes the NoETL server's fields or no body at all, answers with its
// names, and a dead shard is named beside the work that was done.
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import type { Databases } from '../../src/db/databases.js'
import type { ApiRequest } from '../../src/http/route.js'
import { cleanupRoutes } from '../../src/http/routes/retention/cleanup.js'
import { violation } from '../../src/http/schema.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openTestDatabases } from '../support/topology.js'

const OLD_MS = Date.now() - 200 * 86_400_000
let database: TestDatabase
let databases: Databases

beforeEach(async () => {
  database = await cloneDatabase(inject('servers'))
  databases = openTestDatabases(database.url)
})
afterEach(async () => {
  await databases.close(1_000)
  await database.drop()
})

const call = (body: ApiRequest['body'], on = databases) =>
  cleanupRoutes({ cleanup: { databases: on } })[0]!.handler({ body } as ApiRequest)

it('without a body the defaults count, and events stay', async () => {
  await plantExecution(database, { atMs: OLD_MS })
  expect(await call(undefined)).toEqual({
    body: { commands_purged: 0, runtime_purged: 0, events_purged: 0, event_partitions_dropped: [] },
  })
})

it('purges events when asked', async () => {
  await plantExecution(database, { atMs: OLD_MS })
  expect((await call({ event_retention_days: 90 })).body).toMatchObject({ events_purged: 2 })
})

it('names a dead shard', async () => {
  const two = openTestDatabases(database.url, 'postgres://nobody@127.0.0.1:1/none')
  const { body } = await call({ command_retention_days: 7, runtime_stale_minutes: 0 }, two)
  await two.close(1_000)
  expect(body).toMatchObject({ commands_purged: 0, failures: [{ shard: 'shard1' }] })
})

it('is for the internal token, and refuses what is not a number of days', () => {
  const [route] = cleanupRoutes({ cleanup: { databases } })
  expect(route!.access).toBe('internal')
  for (const days of [-1, 1.5, '7', 40_000]) {
    expect(violation(route!.body!, { event_retention_days: days } as never)).toMatch(/event_retention_days/)
  }
})
