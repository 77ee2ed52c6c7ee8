// Promise: the public event routes keep their hands off what is ours: no subscription.* events, no events for the log of
// a subscription, no event id that lies more than an hour ahead of the database's clock in both layouts. The internal
// token may; import and projector are not judged.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeSnowflake } from '../../src/domain/ids/snowflake.js'
import { eventRoutes } from '../../src/http/routes/events/events.js'
import type { HttpServer } from '../../src/http/server.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { importEvents } from '../../src/services/events/eventImport.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { projectEnvelopes } from '../../src/services/projector/projector.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { server } from '../http/httpHarness.js'
import { pushDocument } from '../subscriptions/specs.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const TOKEN = 'internal-token-of-this-test'
const MINUTE = 60_000
const database = useDatabase()
let core: TestCore
let http: HttpServer
let executionId: string
let subscriptionId: string

beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/guard')
  await registerEntry(core, { content: pushDocument({ path: 'tests/hook', listener: 'guarded' }) })
  executionId = (await startExecution(core, { path: 'tests/guard' })).executionId
  subscriptionId = (await registerSubscription(core, 'tests/hook')).row.subscription_id
  http = server({ access: { internalTokens: [TOKEN] } }, eventRoutes({ ingest: core }))
  await http.start()
})
afterAll(async () => {
  await http.stop(1_000)
  await core.close()
})

async function post(id: string, fields: object, token?: string) {
  const event = { event_type: 'step.enter', step: 's', ...fields }
  const send = async (path: string, body: object) => {
    const response = await fetch(new URL(path, http.url()), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return { status: response.status, error: ((await response.json()) as { error?: string }).error }
  }
  const single = await send('/api/events', { execution_id: id, ...event })
  const batch = await send('/api/events/batch', { execution_id: id, events: [event] })
  return { single, batch, statuses: [single.status, batch.status] }
}
const countOf = async (id: string): Promise<number> =>
  (
    await database.get().sql<{ n: number }>('select count(*)::int as n from noetl.event where execution_id = $1', [id])
  )[0]!.n

const inLayout = (shift: bigint, aheadMs: number): string =>
  String(BigInt(Math.floor(Date.now() + aheadMs) - 1_704_067_200_000) << shift)

describe('refused with 422, single and in a batch, and nothing is written', () => {
  it.each(['subscription.paused', 'subscription_registered', 'subscription.circuit.opened'])('%s', async (type) => {
    for (const id of [executionId, subscriptionId]) {
      const before = await countOf(id)
      const { statuses, single } = await post(id, { event_type: type, path: 'tests/guard' })
      expect(statuses).toEqual([422, 422])
      expect(single.error).toContain('control plane')
      expect(await countOf(id)).toBe(before)
    }
  })
  it.each(['step.enter', 'playbook_started', 'playbook.completed'])('%s for the id of a subscription', async (type) => {
    const before = await countOf(subscriptionId)
    const { statuses, single } = await post(subscriptionId, { event_type: type, path: 'tests/guard' })
    expect(statuses).toEqual([422, 422])
    expect(single.error).toMatch(/is a subscription/)
    expect(await countOf(subscriptionId)).toBe(before)
  })
  it.each([
    ['an hour and more ahead in both layouts', () => inLayout(23n, 61 * MINUTE)],
    ['the highest there is', () => '9223372036854775807'],
  ])('an event id %s', async (_name, id) => {
    const { statuses, single } = await post(executionId, { event_id: id() })
    expect(statuses).toEqual([422, 422])
    expect(single.error).toMatch(/event_id \d+ lies .* ahead of the database's clock/)
  })
})

describe('taken', () => {
  it.each([
    ['of our layout, a little ahead', () => inLayout(22n, 59 * MINUTE)],
    ['of the database function, now', () => inLayout(23n, 0)],
    ['of the database function, a little ahead', () => inLayout(23n, 59 * MINUTE)],
    ['of long ago', () => String(composeSnowflake(Date.UTC(2024, 1, 1), 3, Math.floor(Math.random() * 4096)))],
  ])('an event id %s', async (_name, id) => {
    expect((await post(executionId, { event_id: id() })).statuses).toEqual([200, 200])
  })
  it('anything, with the internal token', async () => {
    expect((await post(subscriptionId, {}, TOKEN)).statuses).toEqual([200, 200])
    expect((await post(subscriptionId, { event_type: 'subscription.circuit.opened' }, TOKEN)).statuses).toEqual([
      200, 200,
    ])
    expect((await post(executionId, { event_id: inLayout(23n, 300 * MINUTE) }, TOKEN)).statuses).toEqual([200, 200])
    expect((await post(subscriptionId, {}, 'another-token')).statuses).toEqual([422, 422])
  })
  it('by import and projector, which are not judged; the subscription goes on', async () => {
    const far = (n: number) => BigInt(inLayout(23n, (400 + n) * MINUTE))
    const document = (n: number) => ({
      execution_id: BigInt(subscriptionId),
      event_id: far(n),
      event_type: 'subscription.circuit.opened',
      timestamp: '2026-01-01T00:00:00Z',
    })
    expect(await importEvents(core, [{ document: document(1) }], { publish: false })).toMatchObject([
      { kind: 'stored' },
    ])
    expect(await projectEnvelopes(core, [{ value: document(2) }], 'test')).toMatchObject({ projected: 1 })
    expect((await changeSubscription(core, { id: subscriptionId, action: 'activate' })).row.state).toBe('ACTIVE')
    expect((await changeSubscription(core, { id: subscriptionId, action: 'pause' })).row.state).toBe('PAUSED')
  })
})
