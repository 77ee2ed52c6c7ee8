// Promise: with NOETL_CP_PUBLISH_ADOPTED events that others insert reach the stream, each once and in the order of its
// execution, with two daemons, with a command that adopts in between, and over a restart; what was there before the switch
// stays unpublished.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { until } from '../support/until.js'

let database: TestDatabase
let stream: TestStream
let env: Record<string, string>
const daemons: Daemon[] = []
const OLD = '380000000000000001'
const EXECUTIONS = ['380000000000000101', '380000000000000102', '380000000000000103']

beforeAll(async () => {
  const servers = inject('servers')
  database = await cloneDatabase(servers)
  stream = await useStream(servers)
  env = {
    ...stream.env,
    NOETL_DATABASE_URL: database.url,
    NOETL_CP_PUBLISH_ADOPTED: 'true',
    NOETL_CP_ADOPT_INTERVAL: '0.1',
    NOETL_CP_WORKER: 'false',
    NOETL_CP_LOG_LEVEL: 'warn',
  }
  await write(OLD, 1, 5)
  for (let count = 0; count < 2; count += 1) daemons.push(await startDaemon([], { env }))
})
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()))
  await stream?.close()
  await database?.drop()
})

/** The columns the NoETL server writes, and no others. */
async function write(executionId: string, from: number, to: number): Promise<void> {
  await database.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, context, result, meta, created_at)
     select $1::bigint, 390000000000000000 + $1::bigint % 1000 * 1000 + n, 7, case n when 1 then 'playbook_started' else 'step.enter' end, 's' || n,
       'RUNNING', '{}', '{"status": "x"}', '{}', '2026-06-01 10:00:00'
     from generate_series($2::int, $3::int) as n`,
    [executionId, from, to],
  )
}

/** The names of the steps in the order of the stream. */
async function told(executionId: string): Promise<string[]> {
  const all = (await stream.messages()).map(({ body }) => JSON.parse(body.replace(/: ?(\d{16,})/g, ':"$1"')))
  return all.filter((event) => String(event.execution_id) === executionId).map((event) => event.node_name)
}

const steps = (count: number) => Array.from({ length: count }, (_, index) => `s${index + 1}`)

const untilTold = (executionId: string, count: number) =>
  until(`${count} events of ${executionId} are in the stream`, async () => (await told(executionId)).length >= count)

it('publishes what others insert, once and in order, with two daemons at work', async () => {
  for (const from of [1, 6, 11]) for (const id of EXECUTIONS) await write(id, from, from + 4)
  for (const id of EXECUTIONS) await untilTold(id, 15)
  for (const id of EXECUTIONS) expect(await told(id)).toEqual(steps(15))
})

it('goes on after a restart, and when a command adopts first', async () => {
  await daemons.shift()!.stop()
  const [id] = EXECUTIONS as [string, ...string[]]
  await write(id, 16, 20)
  expect(await builtCli(['replay', id, '--json'], { env })).toMatchObject({ code: 0 })
  daemons.push(await startDaemon([], { env }))
  await write(id, 21, 25)
  await untilTold(id, 25)
  expect(await told(id)).toEqual(steps(25))
})

it('leaves a row of the writer itself alone, and everything from before the switch', async () => {
  const id = EXECUTIONS[1]!
  // In one transaction, as the mirror of the NoETL server does.
  await database.sql(
    `with stored as (
       insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, created_at)
       values ($1, 390000000000102999, 7, 'step.enter', 's16', 'RUNNING', '2026-06-01 10:00:00') returning execution_id, event_id
     )
     insert into noetl.outbox (execution_id, event_id, payload)
     select execution_id, event_id, jsonb_build_object('execution_id', execution_id, 'event_id', event_id, 'node_name', 's16')
     from stored`,
    [id],
  )
  await untilTold(id, 16)
  await until('it is adopted', async () => {
    const rows = await database.sql('select 1 from noetl.event where stream_version is null')
    return rows.length === 0
  })
  expect(await told(id)).toEqual(steps(16))
  expect(await told(OLD)).toEqual([])
  const [counts] = await database.sql<{ rows: number; waiting: number }>(
    "select count(*)::int as rows, count(*) filter (where status <> 'PUBLISHED')::int as waiting from noetl.outbox",
  )
  expect(counts).toEqual({ rows: 25 + 16 + 15, waiting: 0 })
})

it('stops when it is switched off', async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop()))
  daemons.push(await startDaemon([], { env: { ...env, NOETL_CP_PUBLISH_ADOPTED: 'false' } }))
  await write(EXECUTIONS[2]!, 16, 17)
  await until('they are adopted', async () => {
    const rows = await database.sql('select 1 from noetl.event where stream_version is null')
    return rows.length === 0
  })
  const rows = await database.sql('select 1 from noetl.outbox where execution_id = $1', [EXECUTIONS[2]!])
  expect(rows).toHaveLength(15)
})
