// Promise: messages of a subscription outlive a database that cannot be written. None is given up, however often it
// was delivered meanwhile, and each starts its execution afterwards.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/connect.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { pageOfDead } from '../../src/services/subscriptions/deadLetters.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { createSupervisor, type Supervisor } from '../../src/services/subscriptions/supervisor.js'
import { openCore, type TestCore, testMember } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { failWrites, healWrites } from '../support/databaseTrouble.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'
import { pullDocument, registerDocuments } from './specs.js'

// The first failure that is charged to a message gives it up.
const ATTEMPTS_MAX = 1
const MESSAGES = 5

let database: TestDatabase
let core: TestCore
let bus: Bus
let stream: TestStream
let supervisor: Supervisor

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  core = await openCore([database], { connectionsMax: 4 })
  bus = createBus(
    { url: servers.natsUrl, token: servers.natsToken, name: 'test' },
    { clock: systemClock, log: silentLog },
  )
  await bus.start()
  stream = await useStream(servers)
  await stream.make()
  await registerDocuments(core)
  supervisor = createSupervisor({
    ...core,
    bus,
    random: () => 0,
    membership: testMember(core, 'test'),
    leaseMs: 10_000,
    attemptsMax: ATTEMPTS_MAX,
    onMessages: () => undefined,
    onDriven: () => undefined,
    onError: () => undefined,
  })
  await supervisor.start()
})
afterAll(async () => {
  await supervisor.stop(5_000)
  await bus.stop(1_000)
  await stream.close()
  await core.close()
  await database.drop()
})

/** What the consumer of the test's subject has handed out, repetitions included. */
async function deliveries(subject: string): Promise<number> {
  for await (const info of stream.jsm.consumers.list(stream.name))
    if (info.config.filter_subject === subject) return info.delivered.consumer_seq
  return 0
}

it.each(['25006', '40P01', '58030'])('survives %s', async (sqlstate) => {
  const path = `tests/trouble-${sqlstate.toLowerCase()}`
  const subject = `${stream.prefix}.${sqlstate}`
  await registerEntry(core, { content: pullDocument({ path, stream: stream.name, subject }) })
  const { row } = await registerSubscription(core, path)
  await changeSubscription(core, { id: row.subscription_id, action: 'activate' })
  await failWrites(database, sqlstate)
  try {
    const js = stream.connection.jetstream()
    for (let n = 0; n < MESSAGES; n++) await js.publish(subject, JSON.stringify({ n }))
    await until('every message came back once', async () => (await deliveries(subject)) >= 2 * MESSAGES)
    expect(await pageOfDead(core, undefined, '0', 10)).toEqual([])
  } finally {
    await healWrites(database)
  }
  await until(
    'every message has started its execution',
    async () => {
      const rows = await database.sql(
        `select 1 from noetl.event where parent_execution_id = $1::bigint and event_type = 'playbook_started'`,
        [row.subscription_id],
      )
      return rows.length === MESSAGES
    },
    { timeoutMs: 120_000 },
  )
  expect(await pageOfDead(core, undefined, '0', 10)).toEqual([])
})
