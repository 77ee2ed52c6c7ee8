// Promise: when NATS comes back with an older disk, its sequences begin again where that disk ends; what is published
// then is new and starts executions, and what had been started is not started again.
import { cp, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type OwnNats, startNats } from '../support/natsServer.js'
import { until } from '../support/until.js'
import { numbers, openPullRuntime, type PullRuntime } from './runtime.js'

let nats: OwnNats
let runtime: PullRuntime
let copy: string

beforeAll(async () => {
  nats = await startNats()
  copy = `${nats.folder}-copy`
  runtime = await openPullRuntime(inject('servers'), { nats: { url: `nats://127.0.0.1:${nats.port}` } })
})
afterAll(async () => {
  await runtime.close()
  await nats.stop()
  await rm(copy, { recursive: true, force: true })
})

const settled = () =>
  until('everything is acknowledged', async () => {
    for await (const { num_pending, num_ack_pending } of runtime.jsm.consumers.list('ORDERS')) {
      return num_pending + num_ack_pending === 0
    }
    return false
  })

it('starts what was published after the return, under sequences that were there before', async () => {
  await runtime.jsm.streams.add({ name: 'ORDERS', subjects: ['orders.>'] })
  const id = await runtime.activate({ path: 'tests/older-disk', stream: 'ORDERS' })
  await runtime.drive()
  await runtime.publish('orders.new', 5)
  await runtime.untilStarted(id, 5)
  await settled()
  await nats.kill()
  await cp(nats.folder, copy, { recursive: true })
  await nats.start()
  await runtime.publish('orders.new', 10, 5)
  await runtime.untilStarted(id, 15, 60_000)
  await settled()

  await nats.kill()
  await rm(nats.folder, { recursive: true })
  await cp(copy, nats.folder, { recursive: true })
  await nats.start()
  await runtime.publish('orders.new', 10, 15)
  await runtime.untilStarted(id, 25, 60_000)
  await settled()
  expect(await runtime.started(id)).toEqual(numbers(25))
})
