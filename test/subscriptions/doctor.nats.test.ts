// Promise: `doctor` names the subscriptions that somebody should look at, each with the command that helps, and says
// nothing about those that are well.
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/connect.js'
import { systemClock } from '../../src/runtime/clock.js'
import { silentLog } from '../../src/runtime/log.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { pausedBacklogs } from '../../src/services/health/attention.js'
import { subscriptionFindings } from '../../src/services/subscriptions/doctor.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { keepDead } from '../../src/stores/subscriptions/subscriptionDeliveryStore.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { pullDocument, registerDocuments } from './specs.js'

let database: TestDatabase
let core: TestCore
let bus: Bus
let stream: TestStream
let serial = 0

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  core = await openCore([database])
  bus = createBus(
    { url: servers.natsUrl, token: servers.natsToken, name: 'test' },
    { clock: systemClock, log: silentLog },
  )
  await bus.start()
  stream = await useStream(servers)
  await stream.make()
  await registerDocuments(core)
})
afterEach(async () => {
  await database.sql('truncate noetl.subscription, noetl.subscription_dead_letter, noetl.event')
})
afterAll(async () => {
  await bus.stop(1_000)
  await stream.close()
  await core.close()
  await database.drop()
})

async function active(): Promise<string> {
  const path = `tests/look-${++serial}`
  await registerEntry(core, { content: pullDocument({ path, stream: stream.name, subject: `${stream.prefix}.x` }) })
  const { row } = await registerSubscription(core, path)
  await changeSubscription(core, { id: row.subscription_id, action: 'activate' })
  return row.subscription_id
}

const longAgo = (id: string, span: string) =>
  database.sql(`update noetl.subscription set updated_at = now() - interval '${span}' where subscription_id = ${id}`)

async function findings(): Promise<string[]> {
  const found = await subscriptionFindings({ ...core, bus })
  for (const { fix } of found) expect(fix).not.toBe('')
  return found.map(({ level, where, finding }) => `${level} ${where}: ${finding}`)
}

it('has nothing to say without subscriptions, or about one that was just paused', async () => {
  expect(await findings()).toEqual([])
  const id = await active()
  await changeSubscription(core, { id, action: 'pause' })
  expect(await findings()).toEqual([])
})

it('leaves it to the overview to tell what waits behind a pause', async () => {
  const id = await active()
  const backlogs = async () => pausedBacklogs({ ...core, bus })
  await changeSubscription(core, { id, action: 'pause' })
  expect(await backlogs()).toEqual([])
  for (const n of [1, 2]) await stream.connection.jetstream().publish(`${stream.prefix}.x`, String(n))
  expect(await backlogs()).toEqual([{ subscription_id: id, path: expect.stringMatching(/^tests\/look-/), messages: 2 }])
  expect(await pausedBacklogs({ ...core, bus: undefined })).toEqual([])
  await changeSubscription(core, { id, action: 'resume' })
  expect(await backlogs()).toEqual([])
})

it('names one that nobody drives and whose consumer is missing', async () => {
  const id = await active()
  await longAgo(id, '5 minutes')
  expect(await findings()).toEqual([
    expect.stringMatching(`^problem subscription ${id}: tests/look-\\d+ is ACTIVE and no daemon drives it$`),
    expect.stringMatching(`^problem subscription ${id}: .*its consumer does not exist in the stream$`),
  ])
})

it('names a pause without an end that lasts, not one that ends by itself', async () => {
  const [forgotten, planned] = [await active(), await active()]
  await changeSubscription(core, { id: forgotten, action: 'pause', actor: 'ann' })
  const until = new Date(Date.now() + 86_400_000 * 30).toISOString().replace('Z', '000+00:00')
  await changeSubscription(core, { id: planned, action: 'pause', until: until as never })
  for (const id of [forgotten, planned]) await longAgo(id, '9 days')
  expect(await findings()).toEqual([
    expect.stringMatching(`^advice subscription ${forgotten}: .*paused for 9 day.* \\(by ann\\)`),
  ])
})

it('names a drain that does not end, trouble, and messages that were given up', async () => {
  const [draining, troubled] = [await active(), await active()]
  await changeSubscription(core, { id: draining, action: 'drain' })
  await longAgo(draining, '20 minutes')
  await database.sql(`update noetl.subscription set trouble = 'stream is gone' where subscription_id = ${troubled}`)
  await changeSubscription(core, { id: troubled, action: 'pause' })
  await keepDead(core.databases.cluster.db, {
    subscriptionId: troubled,
    identity: 'nats:S:1',
    subject: 's',
    headers: {},
    body: Buffer.from('x'),
    reason: 'no JSON',
    attempts: 1,
  })
  expect((await findings()).sort()).toEqual([
    'advice subscriptions: 1 given-up message waits',
    expect.stringMatching(`^problem subscription ${draining}: .*draining for 1200 s`),
    expect.stringMatching(`^problem subscription ${troubled}: .*does not deliver: stream is gone`),
  ])
})
