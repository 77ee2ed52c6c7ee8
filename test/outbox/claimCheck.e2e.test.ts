// Promise: an event too large for the stream reaches another installation whole, through the reference in its place;
// while the publisher's API is away it waits without holding up others; one that is gone for good is set aside.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let home: TestDatabase
let away: TestDatabase
let stream: TestStream
let publisher: Daemon
let reader: Daemon
let env: Record<string, string>

const startPublisher = (port: number) =>
  startDaemon(['--port', String(port)], {
    env: { ...env, NOETL_DATABASE_URL: home.url, NOETL_PUBLIC_SERVER_URL: `http://127.0.0.1:${port}` },
  })

// Two installations on one stream: each has a consumer of its own.
const startReader = () =>
  startDaemon([], {
    env: {
      ...env,
      NOETL_DATABASE_URL: away.url,
      NOETL_PROJECTOR_NATS_CONSUMER: `reader-${stream.name}`,
      NOETL_CP_CLAIM_CHECK_HOSTS: '127.0.0.1',
    },
  })

beforeAll(async () => {
  home = await cloneDatabase(inject('servers'))
  away = await cloneDatabase(inject('servers'))
  await away.sql('update noetl.cp_identity set cluster_id = gen_random_uuid()')
  stream = await useStream(inject('servers'))
  await stream.make()
  env = { ...stream.env, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN }
})
afterAll(async () => {
  await Promise.all([publisher?.stop(), reader?.stop()])
  await stream.close()
  await home.drop()
  await away.drop()
})

const post = async (path: string, body: unknown) => {
  const response = await fetch(new URL(path, publisher.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status >= 300) throw new Error(`${response.status} ${text}`)
  return JSON.parse(text)
}

const sizes = (database: TestDatabase, executionId: string) =>
  database.sql<{ event_type: string; bytes: number }>(
    `select event_type, coalesce(length(result::text), 0)::int as bytes from noetl.event where execution_id = $1::bigint order by event_id`,
    [executionId],
  )

it('is resolved, waits for the publisher, and is set aside when it is gone', async () => {
  const port = await freePort()
  publisher = await startPublisher(port)
  await post('/api/catalog/register', { content: playbook('tests/large') })
  const { execution_id: id } = await post('/api/execute', { path: 'tests/large', driven: false })
  const large = (mark: string) => ({
    execution_id: id,
    step: 's',
    event_type: 'step.exit',
    payload: { mark, text: 'x'.repeat(3_000_000) },
  })
  await post('/api/events', large('first'))
  await until('all is in the stream', async () => (await stream.messages()).length === 2)
  const reference = (await stream.messages())[1]!
  expect(reference.body.length).toBeLessThan(2_000)
  expect(reference.headers['Noetl-Claim-Check']).toMatch(`http://127.0.0.1:${port}/api/outbox/payload/${id}/`)

  reader = await startReader()
  const original = await sizes(home, id)
  await until('the other installation has it whole', async () => {
    const copy = await sizes(away, id)
    return copy.length === 2 && JSON.stringify(copy) === JSON.stringify(original)
  })

  // The publisher's API away, a large event and a small one behind it: only the large one waits.
  await reader.stop()
  await post('/api/events', large('second'))
  const { execution_id: other } = await post('/api/execute', { path: 'tests/large', driven: false })
  await until('all is in the stream', async () => (await stream.messages()).length === 4)
  await publisher.stop()
  reader = await startReader()
  await until('the small one is there', async () => (await sizes(away, other)).length === 1)
  expect(await sizes(away, id)).toHaveLength(2)
  publisher = await startPublisher(port)
  await until('the large one comes when its publisher is back', async () => (await sizes(away, id)).length === 3, {
    timeoutMs: 120_000,
  })

  // Gone for good: 404.
  await reader.stop()
  await post('/api/events', large('third'))
  await until('all is in the stream', async () => (await stream.messages()).length === 5)
  await home.sql(`delete from noetl.event where execution_id = $1::bigint and result::text like '%third%'`, [id])
  await home.sql(`delete from noetl.outbox where execution_id = $1::bigint`, [id])
  reader = await startReader()
  await until('it is set aside', async () => {
    const rows = await away.sql<{ reason: string }>('select reason from noetl.projector_quarantine')
    return rows.some((row) => row.reason.includes('404'))
  })
  expect(await sizes(away, id)).toHaveLength(3)
})
