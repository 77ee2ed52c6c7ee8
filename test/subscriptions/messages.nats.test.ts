// Promise: a message is known as itself, also when its stream was made anew; whatever it holds it can be given up, kept
// and started again; and a low rate is used for new messages alone, however many wait.
import { randomBytes } from 'node:crypto'
import { AckPolicy, headers as natsHeaders } from 'nats'
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { pageOfDead, redriveDead } from '../../src/services/subscriptions/deadLetters.js'
import { keepDead } from '../../src/stores/subscriptions/subscriptionDeliveryStore.js'
import { until } from '../support/until.js'
import { numbers, openPullRuntime, type PullRuntime } from './runtime.js'

let runtime: PullRuntime
let name: string
let subject: string

beforeAll(async () => {
  runtime = await openPullRuntime(inject('servers'))
})
afterEach(async () => {
  await runtime.rest()
  await runtime.jsm.streams.delete(name).catch(() => undefined)
})
afterAll(() => runtime.close())

async function makeStream(streamName = `M_${randomBytes(4).toString('hex')}`): Promise<void> {
  name = streamName
  subject = `m${randomBytes(4).toString('hex')}.new`
  await runtime.jsm.streams.add({ name, subjects: [subject] })
}

const deadOf = (id: string) => pageOfDead(runtime.cores[0]!, id, '0', 10)

it('starts the messages of a stream that was made anew under the same name', async () => {
  await makeStream()
  const id = await runtime.activate({ path: 'tests/anew', stream: name })
  await runtime.drive()
  await runtime.publish(subject, 10)
  await runtime.untilStarted(id, 10)
  await runtime.jsm.streams.delete(name)
  await runtime.jsm.streams.add({ name, subjects: [subject] })
  await runtime.publish(subject, 15, 10)
  await runtime.untilStarted(id, 25)
  expect(await runtime.started(id)).toEqual(numbers(25))
})

it('gives up a message with NUL in a header, and goes on', async () => {
  await makeStream()
  const id = await runtime.activate({
    path: 'tests/nul',
    stream: name,
    extra: '    payload_from: message\n',
  })
  const js = runtime.connection.jetstream({ timeout: 60_000 })
  const headers = natsHeaders()
  headers.set('X-Note', 'a\0b')
  await js.publish(subject, '{"n": 1}', { headers })
  await js.publish(subject, '{"n": 2}')
  await runtime.drive(0, { attemptsMax: 2 })
  const [dead] = await until('it is kept', async () => {
    const rows = await deadOf(id)
    return rows.length === 1 && rows
  })
  expect(dead).toMatchObject({ headers: { 'X-Note': 'a\u2400b' }, reason: expect.stringContaining('header') })
  await until('the other one is started', async () => (await runtime.started(id)).length === 1)
  await until('nothing is left', async () => {
    for await (const { num_pending, num_ack_pending } of runtime.jsm.consumers.list(name)) {
      return num_pending + num_ack_pending === 0
    }
    return false
  })
  expect(await redriveDead(runtime.cores[0]!, dead!.dead_letter_id)).toMatchObject({ outcome: 'started' })
})

it('keeps any message: texts that Postgres refuses, and the body that came last', async () => {
  const { db } = runtime.cores[0]!.databases.cluster
  const text = '\0 and \ud800'
  const message = { subscriptionId: '77', identity: `nats:a\0b:1`, attempts: 1 }
  await keepDead(db, { ...message, subject: text, headers: { [text]: text }, body: Buffer.from('one'), reason: text })
  await keepDead(db, { ...message, subject: 's', headers: {}, body: Buffer.from('two'), reason: 'again' })
  const rows = await runtime.shards[0]!.sql(
    `select subject, headers::text as headers, convert_from(body, 'utf8') as body, reason
     from noetl.subscription_dead_letter where subscription_id = 77`,
  )
  expect(rows).toEqual([{ subject: 's', headers: '{}', body: 'two', reason: 'again' }])
})

it('starts given-up messages of a stream with a colon in its name', async () => {
  await makeStream(`M:${randomBytes(4).toString('hex')}`)
  const id = await runtime.activate({ path: 'tests/colon', subject })
  await runtime.connection.jetstream({ timeout: 60_000 }).publish(subject, 'no json')
  await runtime.drive(0, { attemptsMax: 1 })
  const [dead] = await until('it is kept', async () => {
    const rows = await deadOf(id)
    return rows.length === 1 && rows
  })
  // As if the reason had gone meanwhile.
  await runtime.shards[0]!.sql(
    `update noetl.subscription_dead_letter set body = '{"n": 1}'::bytea where subscription_id = $1::bigint`,
    [id],
  )
  expect(await redriveDead(runtime.cores[0]!, dead!.dead_letter_id)).toMatchObject({ outcome: 'started' })
  const [event] = await runtime.shards[0]!.sql<{ stream: string; sequence: number }>(
    `select meta -> 'trace' ->> 'stream' as stream, (meta -> 'trace' ->> 'sequence')::int as sequence from noetl.event
     where parent_execution_id = $1::bigint`,
    [id],
  )
  expect(event).toEqual({ stream: name, sequence: 1 })
})

it('uses a low rate for new messages alone: none is delivered twice while it waits, and repetitions are free', async () => {
  await makeStream()
  const durable = 'slow'
  // An operator's consumer whose patience is short: without care everything that waits here comes again.
  await runtime.jsm.consumers.add(name, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: 1e9,
  })
  const withRate = (perSecond: number) =>
    runtime.activate({
      path: 'tests/slow',
      stream: name,
      extra: `  durable: ${durable}\n  limits: {max_dispatch_per_sec: ${perSecond}}\n`,
    })
  const id = await withRate(20)
  await runtime.publish(subject, 120)
  await runtime.drive()
  await runtime.untilStarted(id, 120)
  expect(runtime.outcomes.get('duplicate') ?? 0).toBe(0)
  expect(await runtime.started(id)).toEqual(numbers(120))
  await runtime.rest()
  // The position is lost: all are delivered again. At the rate of new ones they would take two minutes.
  await runtime.jsm.consumers.delete(name, durable)
  await withRate(1)
  await runtime.publish(subject, 2, 120)
  await runtime.drive()
  await runtime.untilStarted(id, 122)
  expect(runtime.outcomes.get('duplicate')).toBe(120)
})

it('starts large messages like small ones: with their payload, once per key, and gives up what is not JSON', async () => {
  await makeStream()
  const id = await runtime.activate({
    path: 'tests/large',
    stream: name,
    extra: '  dedup: {enabled: true, field: order.id}\n',
  })
  const js = runtime.connection.jetstream({ timeout: 60_000 })
  const filler = 'x'.repeat(200_000)
  const order = (n: number, key: string) =>
    `{"n": ${n}, "big": 12345678901234567890, "order": {"id": "${key}"}, "f": "${filler}"}`
  for (const text of [order(0, 'a'), order(5, 'a'), `{"n": 7, "f": "${filler}`, order(1, 'b')])
    await js.publish(subject, text)
  await runtime.drive(0, { attemptsMax: 2 })
  await until('one is given up', async () => (await deadOf(id)).length === 1)
  await runtime.untilStarted(id, 2)
  // Whichever of the two with the same key came first.
  expect([
    [0, 1],
    [1, 5],
  ]).toContainEqual(await runtime.started(id))
  const rows = await runtime.shards[0]!.sql<{ big: string; characters: number }>(
    `select context->'workload'->>'big' as big, length(context->'workload'->>'f') as characters
     from noetl.event where event_type like 'playbook%started' and parent_execution_id = $1`,
    [id],
  )
  for (const row of rows) expect(row).toEqual({ big: '12345678901234567890', characters: 200_000 })
})
