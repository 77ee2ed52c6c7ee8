// Promise: large events of many senders at once are all stored. A sender may be told to come again, and then gets through;
// memory stays bounded, nobody else is held up for good, and the daemon loses nothing that it holds.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

const EVENTS = 12
const BYTES = 8_000_000
// Joined into one transaction they need far more than this.
const HEAP_MB = 256
let database: TestDatabase
let daemon: Daemon

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      NOETL_CP_EVENT_LIMIT_MB: '16',
    },
  })
  await post('/api/catalog/register', { content: playbook('tests/large') })
})
afterAll(async () => {
  await daemon.stop()
  await database.drop()
})

const post = (path: string, body: unknown) =>
  fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** As a client that comes again; the server may cut off a body that it has no room for before it was sent. */
async function insist(path: string, body: unknown): Promise<void> {
  for (;;) {
    const response = await post(path, body).catch(() => undefined)
    if (response?.status === 200) return
    if (response !== undefined) expect(response.status, await response.text()).toBe(503)
    // A daemon that has died will not have room later.
    else process.kill(daemon.pid, 0)
    const seconds = Number(response?.headers.get('retry-after') ?? 1)
    expect(seconds).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 * (0.5 + Math.random())))
  }
}

it(`${EVENTS} events of 8 MB at once`, async () => {
  const { execution_id: id } = (await (
    await post('/api/execute', { path: 'tests/large', driven: false })
  ).json()) as any
  const payload = { text: 'x'.repeat(BYTES) }
  const large = Promise.all(
    Array.from({ length: EVENTS }, (_, n) =>
      insist('/api/events/batch', { execution_id: id, events: [{ event_type: 'step.exit', step: `s${n}`, payload }] }),
    ),
  )
  let isDone = false
  const small = (async () => {
    const { execution_id: other } = (await (
      await post('/api/execute', { path: 'tests/large', driven: false })
    ).json()) as any
    let count = 0
    for (; !isDone; count++) await insist('/api/events', { execution_id: other, event_type: 'step.enter', step: 's' })
    return count
  })()
  await large
  isDone = true
  expect(await small).toBeGreaterThan(0)
  const [row] = await database.sql<{ n: number }>(
    `select count(*)::int as n from noetl.event where execution_id = ${id} and event_type = 'step.exit'`,
  )
  expect(row!.n).toBe(EVENTS)
  expect((await daemon.get('/readyz')).status).toBe(200)
}, 240_000)
