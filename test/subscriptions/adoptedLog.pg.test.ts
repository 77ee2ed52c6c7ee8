// Promise: a log that the NoETL server wrote is taken over as it stands: the migration makes one row per subscription
// from its newest lifecycle event, the newest live id of a path holds it, and the keeper reads the entries.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { applyMigrations } from '../../src/db/migrations.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createLifecycleTimer } from '../../src/services/subscriptions/lifecycleTimer.js'
import { rebuildSubscriptions } from '../../src/services/subscriptions/rebuild.js'
import { historyOf } from '../../src/services/subscriptions/views.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { pullDocument, pushDocument } from './specs.js'

const BEFORE_SUBSCRIPTIONS = 6
// Snowflake ids of one month.
const id = (n: number): string => String(380_000_000_000_000_000n + BigInt(n) * 4_194_304n)
// An id of noetl.snowflake_id(), about twice as large.
const DOUBLED = String((BigInt(Date.now() - 60_000 - 1_704_067_200_000) << 23n) | (1n << 18n) | 5n)
const [ORDERS_OLD, ORDERS, HOOK, GONE, NOISY, NAMELESS] = [1, 2, 3, 4, 5, 6].map(id) as [
  string,
  string,
  string,
  string,
  string,
  string,
]

let database: TestDatabase
let core: TestCore

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'), { empty: true })
  await applyMigrations(database.settings, { upTo: BEFORE_SUBSCRIPTIONS })
  await entry('9001', 'shop/orders', pullDocument({ path: 'shop/orders', stream: 'ORDERS' }))
  await entry('9002', 'shop/hook', pushDocument({ path: 'shop/hook', listener: 'adopted-hook' }))
  // Two racing registrations of one path, as the NoETL server lets happen.
  await log(ORDERS_OLD, '9001', 'shop/orders', ['registered', 'activated'])
  await log(ORDERS, '9001', 'shop/orders', ['registered', 'activated', 'paused'])
  await log(HOOK, '9002', 'shop/hook', ['registered'])
  await log(GONE, '9001', 'shop/gone', ['registered', 'activated', 'draining', 'deactivated'])
  // Other events of the same id do not decide.
  await log(NOISY, '9003', 'shop/noisy', ['registered', 'activated', 'circuit.opened', 'message.deduplicated'])
  await log(NAMELESS, '9003', '', ['registered', 'activated', 'resumed'])
  await entry('9004', 'shop/doubled', pullDocument({ path: 'shop/doubled', stream: 'DOUBLED' }))
  await log(DOUBLED, '9004', 'shop/doubled', ['registered', 'activated'])
  await applyMigrations(database.settings)
  core = await openCore([database])
})
afterAll(async () => {
  await core.close()
  await database.drop()
})

async function entry(catalogId: string, path: string, content: string): Promise<void> {
  await database.sql(
    `insert into noetl.catalog (catalog_id, path, version, kind, content) values ($1::bigint, $2::text, 1, 'subscription', $3::text)`,
    [catalogId, path, content],
  )
}

const STATUS: Record<string, string> = { registered: 'REGISTERED', paused: 'PAUSED', draining: 'DRAINING' }

/** As the NoETL server writes them: no stream_version, the path in the node name or in the context. */
async function log(subscription: string, catalogId: string, path: string, types: readonly string[]): Promise<void> {
  for (const [index, type] of types.entries()) {
    const status = STATUS[type] ?? (type === 'deactivated' ? 'DEACTIVATED' : 'ACTIVE')
    const context = { subscription_id: subscription, path: path === '' ? 'shop/nameless' : path, catalog_id: catalogId }
    await database.sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, node_type, status, context, meta, created_at)
       values ($1::bigint, $1::bigint + $2::int, $3::bigint, $4::text, 'subscription', $5::text, 'subscription', $6::text, $7::jsonb,
         '{"emitter": "control_plane", "subscription_lifecycle": true}', timestamp '2026-11-01' + $2::int * interval '1 minute')`,
      [subscription, index + 1, catalogId, `subscription.${type}`, path, status, JSON.stringify(context)],
    )
  }
}

it('makes one row per id from its newest lifecycle event', async () => {
  const rows = await database.sql<{ id: string; path: string; state: string; live: boolean; type: string }>(
    `select subscription_id as id, path, state, live, last_event_type as type from noetl.subscription order by subscription_id`,
  )
  expect(rows.map((row) => [row.id, row.path, row.state, row.live, row.type])).toEqual([
    [ORDERS_OLD, 'shop/orders', 'ACTIVE', false, 'subscription.activated'],
    [ORDERS, 'shop/orders', 'PAUSED', true, 'subscription.paused'],
    [HOOK, 'shop/hook', 'REGISTERED', true, 'subscription.registered'],
    [GONE, 'shop/gone', 'DEACTIVATED', false, 'subscription.deactivated'],
    [NOISY, 'shop/noisy', 'ACTIVE', true, 'subscription.activated'],
    [NAMELESS, 'shop/nameless', 'ACTIVE', true, 'subscription.resumed'],
    [DOUBLED, 'shop/doubled', 'ACTIVE', true, 'subscription.activated'],
  ])
})

it('reads the entries, and tells what is wrong with those it cannot read', async () => {
  const keeper = createLifecycleTimer({
    ...core,
    random: () => 0.5,
    onCounts: () => undefined,
    onError: () => undefined,
  })
  await keeper.start()
  await until('the hook is described', async () => (await findSubscription(core, HOOK)).listener === 'adopted-hook')
  await until('the orders are described', async () => (await findSubscription(core, ORDERS)).mode === 'pull')
  await until('the missing entry is told', async () => (await findSubscription(core, NOISY)).trouble !== null)
  await keeper.stop(1_000)
})

it('agrees with what is made anew from the log', async () => {
  const rebuilt = await rebuildSubscriptions(core)
  expect(rebuilt).toMatchObject({ checked: 7, corrected: [] })
  expect(rebuilt.superseded).toEqual([ORDERS_OLD])
})

it('goes on from there', async () => {
  expect((await registerSubscription(core, 'shop/orders')).row.subscription_id).toBe(ORDERS)
  expect((await changeSubscription(core, { id: ORDERS, action: 'resume' })).row.state).toBe('ACTIVE')
  expect((await historyOf(core, ORDERS)).map((item) => item.eventType)).toEqual([
    'subscription.registered',
    'subscription.activated',
    'subscription.paused',
    'subscription.resumed',
  ])
  expect((await changeSubscription(core, { id: ORDERS_OLD, action: 'deactivate' })).row.state).toBe('DEACTIVATED')
})

it('pauses and resumes one whose ids come from the database function, in that order', async () => {
  await until('it is described', async () => (await findSubscription(core, DOUBLED)).mode === 'pull')
  expect((await changeSubscription(core, { id: DOUBLED, action: 'pause' })).row.state).toBe('PAUSED')
  expect((await changeSubscription(core, { id: DOUBLED, action: 'resume' })).row.state).toBe('ACTIVE')
  expect((await historyOf(core, DOUBLED)).map((item) => item.eventType)).toEqual([
    'subscription.registered',
    'subscription.activated',
    'subscription.paused',
    'subscription.resumed',
  ])
  expect(await rebuildSubscriptions(core)).toMatchObject({ corrected: [] })
})
