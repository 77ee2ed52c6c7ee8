// Promise: beside an original that publishes rows of the same outbox, `doctor` finds that publisher and says what to switch off,
// as a command and over HTTP; it says nothing of our own messages, of other installations, and of publishers that use our routes.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

let database: TestDatabase
let stream: TestStream
let daemon: Daemon
let env: Record<string, string>
let executionId: string

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  stream = await useStream(servers)
  env = {
    ...stream.env,
    NOETL_DATABASE_URL: database.url,
    NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
    NOETL_CP_WORKER: 'false',
    NOETL_CP_LOG_LEVEL: 'warn',
  }
  daemon = await startDaemon([], { env })
  await post('/api/catalog/register', { content: playbook('tests/second') })
  executionId = (await post('/api/execute', { path: 'tests/second', driven: false })).execution_id
  await until('it is published', async () => {
    const rows = await database.sql("select 1 from noetl.outbox where status <> 'PUBLISHED'")
    return rows.length === 0 && (await stream.messages()).length > 0
  })
})
afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
  await database?.drop()
})

async function post(path: string, body: object): Promise<any> {
  const answer = await fetch(new URL(path, daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  expect(answer.ok, await answer.clone().text()).toBe(true)
  return answer.json()
}

interface Row {
  outbox_id: string
  execution_id: string
  event_id: string
  payload: string
}

/** As the original's server does: a subject of its own making, no header, no message id, the envelope as sorted JSON. */
async function publishAsOriginal(row: Row, headers?: Record<string, string>): Promise<number> {
  const js = stream.connection.jetstream()
  const { headers: empty } = await import('nats')
  const given = empty()
  for (const [name, value] of Object.entries(headers ?? {})) given.set(name, value)
  const subject = `${stream.prefix}.default.default.${row.execution_id}.0`
  return (await js.publish(subject, row.payload, headers === undefined ? {} : { headers: given })).seq
}

/** Its transaction: event and row together, claimed at once, published and marked after the commit. */
async function appendAsOriginal(leaseOwner: string | null): Promise<Row> {
  const [row] = await database.sql<Row>(
    `with stored as (
       insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, created_at)
       select execution_id, max(event_id) + 1, max(catalog_id), 'step.enter', 'a', 'STARTED', now() at time zone 'utc'
       from noetl.event where execution_id = $1 group by execution_id
       returning execution_id, event_id
     )
     insert into noetl.outbox (execution_id, event_id, payload, status, attempts, locked_at, lease_owner, lease_until)
     select execution_id, event_id, jsonb_build_object('event_id', event_id, 'execution_id', execution_id), 'IN_FLIGHT', 1,
       now(), $2, case when $2::text is null then null else now() + interval '1 hour' end
     from stored
     returning outbox_id::text, execution_id::text, event_id::text, payload::text`,
    [executionId, leaseOwner],
  )
  return row!
}

const found = (findings: { where: string; finding: string }[]) =>
  findings.filter(({ finding }) => finding.includes('somebody else publishes'))

async function doctor(): Promise<any[]> {
  const ran = await builtCli(['doctor', '--json'], { env })
  return found(JSON.parse(ran.stdout).findings)
}

it('says nothing of our own messages, of other installations, and of publishers that use our routes', async () => {
  expect(await doctor()).toEqual([])
  await publishAsOriginal({
    outbox_id: '',
    execution_id: '77',
    event_id: '1',
    payload: '{"execution_id":77,"event_id":1}',
  })
  await publishAsOriginal({ outbox_id: '', execution_id: '78', event_id: '1', payload: 'no envelope' })
  const asked = await appendAsOriginal('http')
  await publishAsOriginal(asked)
  await post('/api/internal/outbox/mark-published', { outbox_ids: [asked.outbox_id] })
  expect(await doctor()).toEqual([])
})

it('finds rows that the original published, and messages that are in the stream twice', async () => {
  const row = await appendAsOriginal(null)
  const seq = await publishAsOriginal(row)
  await database.sql("update noetl.outbox set status = 'PUBLISHED', published_at = now() where outbox_id = $1", [
    row.outbox_id,
  ])
  const [first] = await doctor()
  expect(first).toMatchObject({
    level: 'problem',
    where: `stream ${stream.name}`,
    finding: expect.stringContaining(`sequence ${seq}, event ${row.event_id} of execution ${executionId}`),
    fix: expect.stringContaining('NOETL_EVENT_MIRROR_ENABLED=false'),
  })

  const [ours] = await database.sql<Row & { stream_seq: string }>(
    `select outbox_id::text, execution_id::text, event_id::text, payload::text, stream_seq::text
     from noetl.outbox where stream_seq is not null order by outbox_id limit 1`,
  )
  await publishAsOriginal(ours!)
  const [second] = await doctor()
  expect(second.finding).toContain(`the relay had stored as sequence ${ours!.stream_seq}`)

  const told = await until('the daemon has looked again', async () => {
    const { body } = await daemon.get('/api/doctor', { authorization: `Bearer ${INTERNAL_TOKEN}` })
    const [one] = found(body.findings)
    return one?.finding.includes('the relay had stored') ? one : undefined
  })
  expect(told).toMatchObject({ level: 'problem', fix: second.fix })
})
