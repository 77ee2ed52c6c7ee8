// Promise: a pause waits for the start that is being committed and shuts out every later one, also of a runtime that
// knows nothing of it; when it cannot be sure it says so instead of returning.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import type { Starter } from '../../src/services/events/starts.js'
import { dispatch } from '../../src/services/subscriptions/dispatch.js'
import {
  changeSubscription,
  findSubscription,
  registerSubscription,
  type SubscriptionRow,
} from '../../src/services/subscriptions/lifecycle.js'
import type { Right } from '../../src/services/subscriptions/right.js'
import { openCore, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { holds, until } from '../support/until.js'
import { pullDocument, registerDocuments } from './specs.js'

let shards: TestDatabase[]
let core: TestCore
let proxy: TcpProxy
let serial = 0

beforeAll(async () => {
  shards = await Promise.all([1, 2].map(() => cloneDatabase(inject('servers'))))
  const url = new URL(shards[1]!.url)
  proxy = await startTcpProxy(url.hostname, Number(url.port))
  url.port = String(proxy.port)
  core = await openCore([shards[0]!, { ...shards[1]!, url: url.toString() }])
  await registerDocuments(core)
})
afterAll(async () => {
  proxy.setMode('pass')
  await core.close()
  await proxy.close()
  await Promise.all(shards.map((shard) => shard.drop()))
})

async function active(): Promise<Right & { id: string }> {
  const path = `tests/fence-${++serial}`
  await registerEntry(core, { content: pullDocument({ path, stream: 'S' }) })
  const { row } = await registerSubscription(core, path)
  const changed = await changeSubscription(core, { id: row.subscription_id, action: 'activate' })
  return { id: row.subscription_id, ...rightOf(changed.row) }
}

const rightOf = (row: SubscriptionRow): Right => ({
  subscriptionId: row.subscription_id,
  epoch: row.epoch,
  lastEventId: row.last_event_id,
})
const target = ({ subscriptionId, epoch, lastEventId }: Right) => ({
  subscriptionId,
  epoch,
  lastEventId,
  playbook: 'tests/handler',
})
const messages = (count: number) =>
  Array.from({ length: count }, () => ({ identity: `nats:S:${++serial}`, windowSeconds: 300, payload: {} }))

async function countOf(id: string): Promise<number> {
  const counts = await Promise.all(
    shards.map((shard) =>
      shard.sql<{ n: number }>('select count(*)::int as n from noetl.event where parent_execution_id = $1::bigint', [
        id,
      ]),
    ),
  )
  return counts.reduce((sum, [row]) => sum + row!.n, 0)
}

/** A process that stops inside its transaction, between its last statement and the commit, until the gate opens. */
function frozen(gate: Promise<void>, reached: () => void): TestCore {
  const appender: Starter = {
    ...core.appender,
    startWith: (shard, work) =>
      core.appender.startWith(shard, async (tx, start) => {
        const result = await work(tx, start)
        reached()
        await gate
        return result
      }),
  }
  return { ...core, appender }
}

it('waits for a start that is being committed', async () => {
  const right = await active()
  const { id } = right
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let reached = (): void => undefined
  const inside = new Promise<void>((resolve) => {
    reached = resolve
  })
  const starting = dispatch(frozen(gate, reached), target(right), messages(1))
  await inside
  let isPaused = false
  const pausing = changeSubscription(core, { id, action: 'pause' }).then(() => {
    isPaused = true
  })
  await until('the pause is written', async () => (await findSubscription(core, id)).state === 'PAUSED')
  await holds('the pause has not returned', () => !isPaused)
  open()
  await expect(starting).resolves.toHaveLength(1)
  await pausing
  expect(await countOf(id)).toBe(1)
})

it('lets two batches open an epoch at once', async () => {
  const right = await active()
  const { id } = right
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let held = 0
  const both = frozen(gate, () => {
    held += 1
  })
  // Many keys, so that each batch has starts in both shards; the second waits for the first to commit the fence.
  const batches = [dispatch(both, target(right), messages(20)), dispatch(both, target(right), messages(20))]
  await until('the first batch is about to commit in both shards', () => held >= 2)
  open()
  const results = (await Promise.all(batches)).flat()
  expect(results.map((result) => result.status)).toEqual(Array.from({ length: 40 }, () => 'started'))
  expect(await countOf(id)).toBe(40)
})

it('shuts out a runtime that knows nothing of it, in every shard', async () => {
  const right = await active()
  const { id } = right
  await dispatch(core, target(right), messages(20))
  await changeSubscription(core, { id, action: 'pause' })
  for (let round = 0; round < 10; round++) {
    await expect(dispatch(core, target(right), messages(1))).rejects.toMatchObject({ code: 'lost_claim' })
  }
  expect(await countOf(id)).toBe(20)
  const { row } = await changeSubscription(core, { id, action: 'resume' })
  await expect(dispatch(core, target(right), messages(20))).rejects.toMatchObject({ code: 'lost_claim' })
  // Not one of a refused batch is started in a shard that did not notice yet.
  await dispatch(core, target(rightOf(row)), messages(20))
  await expect(dispatch(core, target(right), messages(20))).rejects.toMatchObject({ code: 'lost_claim' })
  expect(await countOf(id)).toBe(40)
})

it('says so when a shard cannot be asked and the runtime has not let go', async () => {
  let found = await active()
  while (core.databases.shardOf(found.id) !== 0) found = await active()
  const { id } = found
  await shards[0]!.sql(
    "update noetl.subscription set owner = 'frozen', lease_until = now() + interval '1 hour' where subscription_id = $1::bigint",
    [id],
  )
  proxy.setMode('refuse')
  let isPaused = false
  const pausing = changeSubscription(core, { id, action: 'pause' }).finally(() => {
    isPaused = true
  })
  await until('the pause is written', async () => {
    const [row] = await shards[0]!.sql<{ state: string }>(
      'select state from noetl.subscription where subscription_id = $1::bigint',
      [id],
    )
    return row!.state === 'PAUSED'
  })
  await holds('the pause has not returned', () => !isPaused)
  await shards[0]!.sql('update noetl.subscription set owner = null where subscription_id = $1::bigint', [id])
  await expect(pausing).resolves.toMatchObject({ changed: true })
  // Its word was enough. Without it the call does not pretend.
  await shards[0]!.sql(
    "update noetl.subscription set owner = 'frozen', lease_until = now() - interval '1 hour' where subscription_id = $1::bigint",
    [id],
  )
  const refusal = await changeSubscription(core, { id, action: 'pause' }).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'unavailable', message: expect.stringContaining('shard 1') })
  proxy.setMode('pass')
  await expect(changeSubscription(core, { id, action: 'pause' })).resolves.toMatchObject({ changed: false })
})
