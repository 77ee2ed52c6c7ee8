// Promise: with the file of deploy/tracing in front of it, the real daemon tells one whole trace: request → ingest →
// outbox row → publish → NATS header → projector of another installation, with the fold beside it; and a message that
// starts an execution through a subscription continues the trace of its sender.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { headers as natsHeaders } from 'nats'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'

const OTEL = fileURLToPath(new URL('../../deploy/tracing/otel.mjs', import.meta.url))

interface Told {
  service: string
  name: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  attributes: Record<string, unknown>
}

const told: Told[] = []
const databases: TestDatabase[] = []
const daemons: Daemon[] = []
let collector: Server
let stream: TestStream
let orders: TestStream

/** Takes what an OTLP exporter sends. */
function collect(body: string): void {
  for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
    const service = resource.attributes.find(({ key }: { key: string }) => key === 'service.name').value.stringValue
    for (const span of scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans)) {
      const { name, traceId, spanId, parentSpanId } = span
      const attributes = Object.fromEntries(
        span.attributes.map(({ key, value }: { key: string; value: object }) => [key, Object.values(value)[0]]),
      )
      told.push({ service, name, traceId, spanId, parentSpanId: parentSpanId || undefined, attributes })
    }
  }
}

beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      collect(body)
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  stream = await useStream(inject('servers'))
  orders = await useStream(inject('servers'))
  await orders.make()
  for (const service of ['first', 'second']) {
    const database = await cloneDatabase(inject('servers'))
    databases.push(database)
    // A clone of the template: without a name of its own it would take the other's messages for its own.
    await database.sql('update noetl.cp_identity set cluster_id = gen_random_uuid()')
    daemons.push(
      await startDaemon([], {
        preload: [OTEL],
        env: {
          ...stream.env,
          NOETL_DATABASE_URL: database.url,
          NOETL_PROJECTOR_NATS_CONSUMER: `${service}-${stream.name}`,
          NOETL_CP_SNAPSHOT_EVENTS: '2',
          OTEL_SERVICE_NAME: service,
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
          OTEL_BSP_SCHEDULE_DELAY: '100',
        },
      }),
    )
  }
})
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')))
  await Promise.all([stream?.close(), orders?.close()])
  await Promise.all(databases.map((database) => database.drop()))
  collector?.close()
})

async function post(path: string, body: object, traceparent?: string): Promise<any> {
  const response = await fetch(new URL(path, daemons[0]!.url), {
    method: 'POST',
    headers: traceparent === undefined ? {} : { traceparent },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

const traceOf = (n: number) => String(n).repeat(32)
const lineOf = (n: number) => `00-${traceOf(n)}-${'b'.repeat(16)}-01`
const wait = (what: string, wanted: Partial<Told>) =>
  until(
    what,
    () => told.find((span) => Object.entries(wanted).every(([key, value]) => span[key as keyof Told] === value)),
    {
      timeoutMs: 120_000,
    },
  )

it('one trace from the request to the projector of another installation', async () => {
  await post('/api/catalog/register', { content: playbook('demo/traced') })
  const { execution_id: id } = await post('/api/execute', { path: 'demo/traced' }, lineOf(1))
  await post('/api/events', { execution_id: id, event_type: 'step.enter', step: 'a' }, lineOf(2))
  await post('/api/events/batch', { execution_id: id, events: [{ event_type: 'step.exit', step: 'a' }] }, lineOf(3))

  for (const [n, entrance] of [
    [1, 'noetl.start'],
    [2, 'noetl.ingest'],
    [3, 'noetl.ingest'],
  ] as const) {
    const traceId = traceOf(n)
    const ingest = await wait(entrance, { service: 'first', name: entrance, traceId })
    expect(ingest).toMatchObject({ parentSpanId: 'b'.repeat(16), attributes: { 'noetl.execution_id': id } })
    // A request makes several messages, and a late answer makes the relay publish one of them again: some way leads through.
    const below = ({ spanId }: Told, service: string, name: string) =>
      told.filter(
        (span) =>
          span.traceId === traceId && span.parentSpanId === spanId && span.service === service && span.name === name,
      )
    await until(
      'the projection of what the request made',
      () =>
        below(ingest, 'first', 'noetl.publish').some((publish) => below(publish, 'second', 'noetl.project').length > 0),
      { timeoutMs: 120_000 },
    )
  }
  const claim = await wait('claim', { service: 'first', name: 'noetl.claim' })
  expect(Number(claim.attributes['noetl.rows'])).toBeGreaterThan(0)
  // The fold may answer several appends at once; it belongs to the last of them.
  const ingests = told.filter(({ service, name }) => service === 'first' && /ingest|start/.test(name))
  const fold = await wait('fold', { service: 'first', name: 'noetl.fold' })
  expect(ingests.map(({ spanId }) => spanId)).toContain(fold.parentSpanId)
  expect((await wait('snapshot', { name: 'noetl.snapshot' })).attributes['noetl.snapshot']).toBe('live')
  expect((await daemons[0]!.get(`/api/replay/state?execution_id=${id}`)).status).toBe(200)
  await until('the replay is told', () => told.some(({ attributes }) => attributes['noetl.fold'] === 'replay state'))
})

it('a message of a subscription: its sender, the start, the publication of the start event', async () => {
  const content = `kind: Subscription\nmetadata:\n  path: demo/orders\nspec:\n  source: nats\n  stream: ${orders.name}\n  subject: ${orders.prefix}.new\n  mode: pull\n  dispatch: {playbook: demo/traced}\n`
  await post('/api/catalog/register', { content })
  const { subscription_id: id } = await post('/api/subscriptions', { path: 'demo/orders' })
  await post(`/api/subscriptions/${id}/activate`, {})
  const carried = natsHeaders()
  carried.set('traceparent', lineOf(4))
  carried.set('tracestate', 'shop=7')
  await orders.connection.jetstream().publish(`${orders.prefix}.new`, '{"order": 1}', { headers: carried })

  const start = await wait('start', { name: 'noetl.subscription.start', traceId: traceOf(4) })
  expect(start).toMatchObject({ parentSpanId: 'b'.repeat(16), attributes: { 'noetl.subscription_id': id } })
  // What the engine does next is of this trace, too, and a publication that is repeated has another span.
  const message = await until('what the start made is published below it', async () => {
    const publishes = told.filter(({ name, parentSpanId }) => name === 'noetl.publish' && parentSpanId === start.spanId)
    const messages = await stream.messages()
    return messages.find(({ headers }) => publishes.some(({ spanId }) => headers['traceparent']?.includes(spanId)))
  })
  expect(message.headers['tracestate']).toBe('shop=7')
})
