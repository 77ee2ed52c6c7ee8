// Promise: after somebody else has migrated, a role with nothing but reading and writing rows is enough to
// serve, accept events, publish them and replay. What it cannot do (make partitions) is said, not fatal.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'

const database = useDatabase()
const role = `rows_${randomBytes(4).toString('hex')}`
let stream: TestStream
let daemon: Daemon

/** The same list as in the README. */
const GRANTS = [
  `grant usage on schema noetl to ${role}`,
  `grant select, insert, update, delete on all tables in schema noetl to ${role}`,
  `grant usage, select on all sequences in schema noetl to ${role}`,
]

beforeAll(async () => {
  const { sql } = database.get()
  await sql(`create role ${role} login password 'rows'`)
  for (const grant of GRANTS) await sql(grant)
  stream = await useStream(database.servers())
  const url = new URL(database.get().url)
  url.username = role
  url.password = 'rows'
  daemon = await startDaemon([], { env: { ...stream.env, NOETL_DATABASE_URL: url.toString() } })
})

afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
  const { sql } = database.get()
  await sql(`drop owned by ${role}`)
  await sql(`drop role ${role}`)
})

it('serves with rights on rows only', async () => {
  const post = (path: string, body: unknown) =>
    fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) }).then(
      (response) => response.json() as Promise<any>,
    )
  await post('/api/catalog/register', { content: playbook('tests/rights') })
  const { execution_id: id } = await post('/api/execute', { path: 'tests/rights', driven: false })
  expect(await post('/api/events', { execution_id: id, step: 'a', event_type: 'step.enter' })).toMatchObject({
    status: 'ok',
  })
  expect((await daemon.get(`/api/executions/${id}/status`)).body).toMatchObject({ status: 'RUNNING' })
  expect((await daemon.get(`/api/replay/state?execution_id=${id}`)).body).toMatchObject({ event_count: 2 })
  await until('both events are on the stream', async () => (await stream.messages()).length === 2)
  expect((await daemon.get('/readyz')).status).toBe(200)
})
