// Promise: a subscription that somebody else's runtime delivers goes through the same lifecycle, and no daemon ever leases
// it; a drain lasts until that runtime deactivates it, or until its time is over.
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { subscriptionFindings } from '../../src/services/subscriptions/doctor.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
} from '../../src/services/subscriptions/lifecycle.js'
import { createLifecycleTimer } from '../../src/services/subscriptions/lifecycleTimer.js'
import { until } from '../support/until.js'
import { openPullRuntime, type PullRuntime } from './runtime.js'
import { pullDocument } from './specs.js'

let runtime: PullRuntime
let serial = 0

beforeAll(async () => {
  runtime = await openPullRuntime(inject('servers'))
})
afterEach(() => runtime.rest())
afterAll(() => runtime.close())

async function activated(change: (document: string) => string): Promise<string> {
  const path = `tests/external-${++serial}`
  const core = runtime.cores[0]!
  await registerEntry(core, { content: change(pullDocument({ path, stream: 'S' })) })
  const { row } = await registerSubscription(core, path)
  const changed = await changeSubscription(core, { id: row.subscription_id, action: 'activate' })
  expect(changed.row).toMatchObject({ state: 'ACTIVE', external: true })
  return row.subscription_id
}

const rowOf = (id: string) => findSubscription(runtime.cores[0]!, id)

it.each([
  ['kafka', (document: string) => document.replace('source: nats', 'source: kafka')],
  ['pubsub', (document: string) => document.replace('source: nats', 'source: pubsub')],
  ['a schedule', (document: string) => `${document}  activation: scheduled\n`],
  ['a driver of its own', (document: string) => `${document}  driver: external\n`],
])('%s: it is active, and nobody leases it', async (_, change) => {
  const id = await activated(change)
  const stream = `LEASED_${++serial}`
  await runtime.jsm.streams.add({ name: stream, subjects: [stream] })
  const ours = await runtime.activate({ path: `tests/${stream}`, stream })
  await runtime.drive()
  await until('ours is leased', async () => (await rowOf(ours)).owner !== null)
  await changeSubscription(runtime.cores[0]!, { id: ours, action: 'deactivate' })
  await until('ours is let go', async () => (await rowOf(ours)).owner === null)
  expect(await rowOf(id)).toMatchObject({ state: 'ACTIVE', owner: null, trouble: null })
  await runtime.shards[0]!.sql(
    "update noetl.subscription set updated_at = now() - interval '1 hour' where subscription_id = $1::bigint",
    [id],
  )
  const findings = await subscriptionFindings({ ...runtime.cores[0]!, bus: runtime.buses[0] })
  expect(findings.filter(({ where }) => where.includes(id))).toEqual([])
  await changeSubscription(runtime.cores[0]!, { id, action: 'pause' })
  await changeSubscription(runtime.cores[0]!, { id, action: 'resume' })
  await changeSubscription(runtime.cores[0]!, { id, action: 'deactivate' })
})

it('stays DRAINING until its runtime deactivates it, or its time is over', async () => {
  const core = runtime.cores[0]!
  const external = (document: string): string => `${document}  driver: external\n`
  const [patient, timed, ours] = [
    await activated(external),
    await activated(external),
    await runtime.activate({ path: `tests/ours-${++serial}`, stream: 'S' }),
  ]
  const end = wireTimeFromMillis(Date.now() + 1_000)
  await changeSubscription(core, { id: patient, action: 'drain' })
  await changeSubscription(core, { id: timed, action: 'drain', until: end })
  await changeSubscription(core, { id: ours, action: 'drain' })
  const keeper = createLifecycleTimer({
    ...core,
    random: () => 0.5,
    onCounts: () => undefined,
    onError: (error) => {
      throw error
    },
  })
  await keeper.start()
  await until('ours is drained', async () => (await rowOf(ours)).state === 'DEACTIVATED')
  await until('the time is over', async () => (await rowOf(timed)).state === 'DEACTIVATED')
  expect(wireTimeFromMillis(Date.now()) >= end).toBe(true)
  expect((await rowOf(timed)).reason).toBe('the time of the drain is over')
  expect((await rowOf(patient)).state).toBe('DRAINING')
  await changeSubscription(core, { id: patient, action: 'deactivate' })
  await keeper.stop(1_000)
})

it('is let go by the daemon when a newer version of its entry gives it away', async () => {
  const core = runtime.cores[0]!
  const stream = `GIVEN_${++serial}`
  await runtime.jsm.streams.add({ name: stream, subjects: [stream] })
  const path = `tests/${stream}`
  const id = await runtime.activate({ path, stream })
  await runtime.drive()
  await runtime.publish(stream, 3)
  await runtime.untilStarted(id, 3)
  await registerEntry(core, { content: pullDocument({ path, stream, extra: '  driver: external\n' }) })
  expect((await registerSubscription(core, path)).row).toMatchObject({ subscription_id: id, external: true })
  await until('it is let go', async () => (await rowOf(id)).owner === null)
  await runtime.publish(stream, 3, 3)
  const other = await runtime.activate({ path: `tests/other-${serial}`, stream, subject: stream })
  await runtime.untilStarted(other, 6)
  expect(await runtime.started(id)).toEqual([0, 1, 2])
  expect((await rowOf(id)).owner).toBeNull()
})
