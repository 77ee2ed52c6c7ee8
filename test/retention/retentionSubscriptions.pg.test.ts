// Promise: an old month goes although a subscription was registered in it, and the history of a subscription that may
// still be used never goes with it. What is one is told by its start event alone. One that was deactivated long ago is forgotten, row and log.
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { createIdGenerator, type IdGenerator } from '../../src/domain/ids/idGenerator.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import { monthPartitions } from '../../src/domain/retention/eventPartition.js'
import { systemClock } from '../../src/runtime/clock.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { adoptExecution } from '../../src/services/events/adoption.js'
import { pageOfExecutions } from '../../src/services/executions/executionPages.js'
import { endExecution } from '../../src/services/executions/executions.js'
import { applyRetention } from '../../src/services/retention/retention.js'
import type { RetentionReport } from '../../src/services/retention/retentionPass.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { rebuildSubscriptions } from '../../src/services/subscriptions/rebuild.js'
import { historyOf } from '../../src/services/subscriptions/views.js'
import { keepDead } from '../../src/stores/subscriptions/subscriptionDeliveryStore.js'
import { insertForeign } from '../state/stateHarness.js'
import { pullDocument } from '../subscriptions/specs.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'

const DAY_MS = 86_400_000
const AGO_MS = 200 * DAY_MS
const old = monthPartitions(Date.now() - AGO_MS, 0)[0]!

let database: TestDatabase
let core: TestCore
let id: string
let ended: string

beforeEach(async () => {
  database = await cloneDatabase(inject('servers'))
  await database.sql(
    `create table noetl.${old.name} partition of noetl.event for values from ('${old.from}') to ('${old.to}')`,
  )
  core = await openCore([database])
  await registerEntry(core, { content: pullDocument({ path: 'shop/orders', stream: 'ORDERS' }) })
  const clock = { ...systemClock, now: () => systemClock.now() - AGO_MS }
  const then = { ...core, clock, ids: idsOf(createIdGenerator({ machineId: 77, now: clock.now })) }
  ;({ subscription_id: id } = (await registerSubscription(then, 'shop/orders')).row)
  await changeSubscription(then, { id, action: 'activate' })
  ended = await plantExecution(database, { atMs: Date.now() - AGO_MS })
  await database.sql(`update noetl.outbox set status = 'PUBLISHED'`)
})
afterEach(async () => {
  await core.close()
  await database.drop()
})

/** As a daemon of that time minted them. */
const idsOf = (generator: IdGenerator) => ({ next: generator.nextOne, above: generator.above })

async function apply(dryRun = false): Promise<RetentionReport> {
  const [report] = await applyRetention(core.databases, { olderThanMs: 90 * DAY_MS, dryRun })
  expect(report!.error).toBeUndefined()
  return report!
}

/** As if everything about the subscription had happened so many days ago. */
async function age(days: number): Promise<void> {
  const back = `now() - interval '${days} days'`
  await database.sql(`update noetl.outbox set status = 'PUBLISHED'`)
  await database.sql(`update noetl.execution set updated_at = ${back} where execution_id = ${id}`)
  await database.sql(`update noetl.event set created_at = (${back}) at time zone 'utc' where execution_id = ${id}`)
  await database.sql(`update noetl.subscription set updated_at = ${back} where subscription_id = ${id}`)
}

const count = async (table: string, executionId: string): Promise<number> =>
  (await database.sql(`select 1 from noetl.${table} where execution_id = $1::bigint`, [executionId])).length

it('keeps the history of a live one, and drops its month', async () => {
  await age(200)
  // A change of today lies in the old month, too: it must not keep it.
  await changeSubscription(core, { id, action: 'pause', reason: 'lunch' })
  await database.sql(`update noetl.outbox set status = 'PUBLISHED'`)
  const before = await historyOf(core, id)
  expect(before.map((item) => item.eventType)).toEqual([
    'subscription.registered',
    'subscription.activated',
    'subscription.paused',
  ])
  expect(await apply(true)).toMatchObject({ dropped: [{ name: old.name, events: '2', executions: '1' }] })
  expect(await apply()).toMatchObject({
    dropped: [{ name: old.name, events: '2', executions: '1' }],
    kept: [],
    executionsDeleted: 1,
    subscriptionEventsKept: 3,
    defaultExecutionsKept: { subscription: 1, running: 0 },
  })
  expect([await count('event', ended), await count('execution', ended)]).toEqual([0, 0])
  expect(await historyOf(core, id)).toEqual(before)
  expect(await count('event_default', id)).toBe(3)

  expect((await changeSubscription(core, { id, action: 'resume' })).row.state).toBe('ACTIVE')
  expect(await rebuildSubscriptions(core)).toMatchObject({ checked: 1, corrected: [] })
  expect(await apply()).toMatchObject({ defaultEventsDeleted: 0, defaultExecutionsKept: { subscription: 1 } })
  expect(await historyOf(core, id)).toHaveLength(4)
})

it('forgets one that was deactivated long ago, and frees nothing twice', async () => {
  await changeSubscription(core, { id, action: 'deactivate' })
  await age(150)
  expect(await apply(true)).toMatchObject({ dropped: [{ name: old.name, events: '5', executions: '2' }] })
  expect((await findSubscription(core, id)).state).toBe('DEACTIVATED')
  expect(await apply()).toMatchObject({
    dropped: [{ name: old.name, events: '5', executions: '2' }],
    subscriptionEventsKept: 0,
    executionsDeleted: 2,
  })
  expect([await count('event', id), await count('execution', id)]).toEqual([0, 0])
  await expect(findSubscription(core, id)).rejects.toMatchObject({ code: 'not_found' })
  await expect(changeSubscription(core, { id, action: 'activate' })).rejects.toMatchObject({ code: 'not_found' })
  expect(await rebuildSubscriptions(core)).toMatchObject({ checked: 0 })
  expect((await registerSubscription(core, 'shop/orders')).row.subscription_id).not.toBe(id)
  expect(await apply()).toMatchObject({ dropped: [], kept: [], executionsDeleted: 0 })
})

it.each([
  ['deactivated a week ago', 7, false],
  ['with a message that was given up', 150, true],
])('keeps one that is over but %s', async (_, days, hasDead) => {
  await changeSubscription(core, { id, action: 'deactivate' })
  await age(days)
  if (hasDead) {
    await keepDead(core.databases.cluster.db, {
      subscriptionId: id,
      identity: 'nats:ORDERS:1',
      subject: 'orders',
      headers: {},
      body: Buffer.from('{}'),
      reason: 'no luck',
      attempts: 5,
    })
  }
  expect(await apply()).toMatchObject({ dropped: [{ name: old.name }], subscriptionEventsKept: 3 })
  expect((await findSubscription(core, id)).state).toBe('DEACTIVATED')
  expect(await historyOf(core, id)).toHaveLength(3)
  expect((await changeSubscription(core, { id, action: 'activate' })).row.state).toBe('ACTIVE')
})

// What began an execution tells what it is; its later events may be called anything.
it.each(['subscription.paused', 'subscription_deactivated', 'subscription.mine'])(
  'keeps and lists a running execution whose last event is %s',
  async (lastEventType) => {
    const [here, inDefault] = await Promise.all([
      plantExecution(database, { atMs: Date.now() - AGO_MS, status: 'RUNNING' }),
      plantExecution(database, { atMs: Date.now() - AGO_MS - 40 * DAY_MS, status: 'RUNNING' }),
    ])
    await database.sql(
      `update noetl.execution set last_event_type = '${lastEventType}', start_event_type = 'playbook_started'
       where status = 'RUNNING'`,
    )
    for (const dryRun of [true, false]) {
      expect(await apply(dryRun)).toMatchObject({
        dropped: [],
        kept: [{ name: old.name, reason: 'running' }],
        executionsDeleted: 0,
        defaultExecutionsKept: { running: 1, subscription: 0 },
      })
    }
    expect(await Promise.all([here, inDefault].map((one) => count('event', one)))).toEqual([2, 2])
    expect(await listed()).toEqual(expect.arrayContaining([here, inDefault]))
  },
)

it('keeps a subscription whose log holds the end of a playbook, lists it nowhere, and cancels it never', async () => {
  const cancel = endExecution(core, { executionId: id as ExecutionId, outcome: 'CANCELLED' })
  await expect(cancel).rejects.toThrow(/is a subscription/)
  await insertForeign(database, id, {
    eventId: `${BigInt(id) + 10_000_000_000n}`,
    type: 'playbook.completed',
    step: 's',
  })
  await adoptExecution(core.databases.of(id), id)
  await age(200)
  expect(await apply()).toMatchObject({ subscriptionEventsKept: 3, defaultExecutionsKept: { subscription: 1 } })
  expect([await count('event', id), await count('execution', id)]).toEqual([3, 1])
  expect(await listed()).not.toContain(id)
})

async function listed(): Promise<string[]> {
  const filter = {
    statuses: null,
    catalogId: null,
    pathPattern: null,
    since: null,
    until: null,
    after: null,
    limit: 100,
  }
  return (await pageOfExecutions(core, filter)).rows.map((row) => row.execution_id)
}
