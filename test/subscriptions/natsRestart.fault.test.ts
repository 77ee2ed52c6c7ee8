// Promise: a pull subscription survives its broker: killed and started again under load, also twice, and once with the
// consumer gone, every message of the stream starts exactly one execution, and nothing has to be restarted.
import { connect, type NatsConnection } from 'nats'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/connect.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createSupervisor, type Supervisor } from '../../src/services/subscriptions/supervisor.js'
import { openCore, type TestCore, testMember } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type OwnNats, startNats } from '../support/natsServer.js'
import { until } from '../support/until.js'
import { pullDocument, registerDocuments } from './specs.js'

let nats: OwnNats
let database: TestDatabase
let core: TestCore
let bus: Bus
let supervisor: Supervisor

beforeAll(async () => {
  nats = await startNats()
  database = await cloneDatabase(inject('servers'))
  core = await openCore([database])
  await registerDocuments(core)
  bus = createBus({ url: `nats://127.0.0.1:${nats.port}`, name: 'test' }, { clock: systemClock, log: silentLog })
  await bus.start()
})
afterAll(async () => {
  await supervisor.stop(5_000)
  await bus.stop(1_000)
  await nats.stop()
  await core.close()
  await database.drop()
})

/** A connection of its own each time: what was published must not depend on how a client survives. */
async function withNats<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: `nats://127.0.0.1:${nats.port}` })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

function publish(from: number, count: number): Promise<unknown> {
  return withNats((connection) => {
    const js = connection.jetstream({ timeout: 60_000 })
    return Promise.all(
      Array.from({ length: count }, (_, n) => js.publish('ORDERS.new', JSON.stringify({ n: from + n }))),
    )
  })
}

async function started(id: string): Promise<number[]> {
  const rows = await database.sql<{ n: number }>(
    `select (context -> 'workload' ->> 'n')::int as n from noetl.event
     where parent_execution_id = $1::bigint and event_type = 'playbook_started' order by 1`,
    [id],
  )
  return rows.map((row) => row.n)
}

it('loses and repeats nothing', async () => {
  await withNats(async (connection) => {
    const jsm = await connection.jetstreamManager()
    await jsm.streams.add({ name: 'ORDERS', subjects: ['ORDERS.>'] })
  })
  await registerEntry(core, {
    content: pullDocument({
      path: 'tests/restart',
      stream: 'ORDERS',
      extra: '  limits: {max_dispatch_per_sec: 1000}\n',
    }),
  })
  const { row } = await registerSubscription(core, 'tests/restart')
  const id = row.subscription_id
  await changeSubscription(core, { id, action: 'activate' })
  supervisor = createSupervisor({
    ...core,
    bus,
    random: Math.random,
    membership: testMember(core, 'test-restart'),
    leaseMs: 10_000,
    attemptsMax: 3,
    onMessages: () => undefined,
    onDriven: () => undefined,
    onError: () => undefined,
  })
  await supervisor.start()

  let published = 0
  for (const round of [1, 2]) {
    await publish(published, 2_000)
    published += 2_000
    const before = (await started(id)).length
    await until('some of them are started', async () => (await started(id)).length > before)
    await nats.kill()
    await until('the trouble is told', async () => (await findSubscription(core, id)).trouble !== null)
    await nats.start()
    await until(`all are started after restart ${round}`, async () => (await started(id)).length >= published, {
      timeoutMs: 120_000,
    })
  }
  // Somebody deletes the consumer: it is made again, sees the whole stream, and recognises what was started.
  await withNats(async (connection) => {
    const jsm = await connection.jetstreamManager()
    for await (const consumer of jsm.consumers.list('ORDERS')) await jsm.consumers.delete('ORDERS', consumer.name)
  })
  await publish(published, 100)
  published += 100
  await until('the new ones are started', async () => (await started(id)).length >= published, { timeoutMs: 120_000 })
  await until('nothing is left to be acknowledged', async () =>
    withNats(async (connection) => {
      const jsm = await connection.jetstreamManager()
      const [consumer] = await jsm.consumers.list('ORDERS').next()
      return consumer !== undefined && consumer.num_pending + consumer.num_ack_pending === 0
    }),
  )
  expect(await started(id)).toEqual(Array.from({ length: published }, (_, n) => n))
  await until('the trouble is over', async () => (await findSubscription(core, id)).trouble === null)
})
