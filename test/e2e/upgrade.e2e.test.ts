// Promise: a NoETL database in use is adopted by `migrate` and served. What it says about its executions is what
// their events say, all of them replay, rows whose publisher had died reach the stream in order, subscriptions keep
// their state, a second `migrate` changes nothing, and writers of the NoETL server may go on beside us.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { committedRows, countBy } from '../support/outboxRows.js'
import { DOCTOR_PROBLEMS } from '../support/servers.js'
import { judge, type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const FIXTURE = readFileSync(new URL('../fixtures/noetl-in-use.sql', import.meta.url), 'utf8')
const EXECUTIONS = 40
const SUBSCRIPTIONS = 3

let database: TestDatabase
let stream: TestStream
let env: Record<string, string>
let daemon: Daemon
let contentBefore: string

const run = (...args: string[]) => builtCli(args, { env })
const json = async (...args: string[]) => {
  const result = await run(...args, '--json')
  expect(result, result.stderr).toMatchObject({ code: 0 })
  return JSON.parse(result.stdout)
}
/** Of the nth execution, as the fixture composes it. */
const idOf = (n: number) =>
  ((BigInt(Date.UTC(2026, 9, 17, 12)) - 1_704_067_200_000n + BigInt(n) * 1000n) << 22n).toString()

/** Every row of every table that the NoETL server knows, in columns that it knows. */
async function content(): Promise<string> {
  const [row] = await database.sql<{ digest: string }>(
    `select md5(string_agg(line, e'\\n' order by line)) as digest from (
      select row(execution_id, event_id, catalog_id, created_at, event_type, node_name, status, worker_id, context, result, meta, error, event_time)::text as line from noetl.event
      union all select c::text from (select catalog_id, path, version::int, kind, content, payload from noetl.catalog) as c
      union all select row(command_id, execution_id, step_name, status)::text from noetl.command
      union all select s::text from noetl.stage as s
      union all select f::text from noetl.frame as f
      union all select t::text from noetl.transient as t
      union all select r::text from noetl.result_store as r
      union all select row(aggregate_id, aggregate_type, version, snapshot, checksum)::text from noetl.projection_snapshot where aggregate_type = 'orchestrator_workflow_state'
      union all select row(outbox_id, execution_id, event_id, payload, payload_bytes, attempts)::text from noetl.outbox where execution_id is not null
    ) as lines`,
  )
  return row!.digest
}

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'), { empty: true })
  stream = await useStream(inject('servers'))
  // The stream as the NoETL server makes it.
  await stream.make({ max_age: 86_400e9 })
  env = { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, ...stream.env }
  const connection = createConnection(database.settings)
  await connection.script(FIXTURE.replaceAll("'noetl.events.", `'${stream.prefix}.`), 30_000)
  await connection.close(1_000)
  contentBefore = await content()
})
afterAll(async () => {
  await daemon?.stop('SIGKILL')
  await stream.close()
  await database.drop()
})

describe('a NoETL database in use', () => {
  it('is looked at without being touched, is adopted, and a second time changes nothing', async () => {
    const pending = (await json('migrate', '--dry-run')).pending as { name: string }[]
    expect(pending[0]).toMatchObject({ version: 1, name: 'base' })
    expect(await database.sql("select to_regclass('noetl.cp_migration') as made")).toEqual([{ made: null }])

    expect((await json('migrate')).applied).toHaveLength(pending.length)
    const schema = () =>
      database.sql(
        `select c.relname, a.attname, a.atttypid::regtype::text as type from pg_attribute a join pg_class c on c.oid = a.attrelid
         where c.relnamespace = 'noetl'::regnamespace and a.attnum > 0 order by 1, a.attnum`,
      )
    const once = await schema()
    expect(await content()).toBe(contentBefore)
    const again = await run('migrate')
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain('everything was up to date')
    expect(await schema()).toEqual(once)
    expect(await content()).toBe(contentBefore)
    const findings = JSON.parse((await run('doctor', '--json')).stdout).findings as { finding: string; level: string }[]
    expect(findings.filter(({ level }) => level === 'problem').map(({ finding }) => finding)).toEqual(DOCTOR_PROBLEMS)
  })

  it('is served: rows whose publisher had died are on the stream, in order, with the rest', async () => {
    expect(await countBy(database)).toMatchObject({ PUBLISHED: 80, FAILED: 1 })
    expect((await countBy(database))['IN_FLIGHT']).toBeUndefined()
    const all = await committedRows(database)
    const before = new Set(
      (
        await database.sql<{ id: string }>(
          "select execution_id || ':' || event_id as id from noetl.outbox where status = 'PUBLISHED'",
        )
      ).map(({ id }) => id),
    )
    daemon = await startDaemon([], { env })
    env['NOETL_PORT'] = new URL(daemon.url).port
    await until(
      'everything is published',
      async () => {
        const counts = await countBy(database)
        return Object.keys(counts).every((status) => status === 'PUBLISHED') && counts
      },
      { timeoutMs: 120_000 },
    )
    // What the NoETL server had published before is not published again; the window of such rows is over by now.
    expect(before.size).toBe(80)
    const due = all.filter((row) => !before.has(row.message_id))
    const messages = await stream.messages()
    expect(judge(messages, due)).toEqual({
      stored: due.length,
      lost: [],
      duplicates: [],
      outOfOrder: [],
      uninvited: [],
    })
    // The two publishers that died had held 40 and 10 rows.
    const claimed = due.filter((row) => [3n, 4n, 5n].includes(BigInt(row.message_id.split(':')[1]!) & 0xffn))
    expect(claimed.length).toBeGreaterThanOrEqual(50)
    // The payload is the NoETL server's, digit for digit, and the row without a subject has got one.
    const one = messages.find((message) => message.messageId === `${idOf(11)}:${BigInt(idOf(11)) + 6n}`)!
    expect(one.body).toContain(`"execution_id": ${idOf(11)}`)
    expect(one.subject.startsWith(`${stream.prefix}.`)).toBe(true)
    // Red while rows of last month wait, green by itself when they are out.
    await until('the daemon is ready', async () => (await daemon.get('/readyz')).status === 200)
    expect((await json('status')).daemon.ready).toBe(true)
  })

  it('lists its executions with the status that their events give', async () => {
    const { executions } = await json('execution', 'list', '--path', 'etl/*', '--limit', '100')
    expect(executions).toHaveLength(EXECUTIONS)
    const byId = new Map(executions.map((row: { execution_id: string }) => [row.execution_id, row]))
    for (let n = 1; n <= EXECUTIONS; n += 1) {
      const status = n % 7 === 0 ? 'RUNNING' : n % 5 === 0 ? 'FAILED' : 'COMPLETED'
      expect(byId.get(idOf(n)), `execution ${n}`).toMatchObject({ status, event_count: n % 7 === 0 ? '7' : '8' })
    }
    expect((await json('execution', 'show', idOf(5))).error).toBe('connection to warehouse refused')
    expect((await daemon.get(`/api/executions/${idOf(5)}/status`)).body).toMatchObject({
      status: 'FAILED',
      progress: { failed_steps: 1 },
    })
  })

  it('replays: each to the same state, at any point, and nothing differs', async () => {
    const state = await json('replay', idOf(1))
    expect(state).toMatchObject({ event_count: 8, execution: { status: 'COMPLETED', last_node_name: 'load' } })
    const verified = await run('replay', 'verify', '--all', '--json')
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(verified.stdout)).toMatchObject({ checked: EXECUTIONS + SUBSCRIPTIONS })
    expect(await run('replay', idOf(3), '--verify')).toMatchObject({ code: 0 })
  })

  it('shows its subscriptions as they were left; of two that raced for a path the newer holds it', async () => {
    const { subscriptions } = await json('subscription', 'list')
    const brief = (subscriptions as { subscription_id: string; state: string; path: string }[]).map(
      ({ subscription_id, state, path }) => ({ subscription_id, state, path }),
    )
    expect(brief).toEqual(
      expect.arrayContaining([
        { subscription_id: '375000000000000001', state: 'PAUSED', path: 'shop/returns' },
        { subscription_id: '375000000000000201', state: 'REGISTERED', path: 'shop/orders' },
      ]),
    )
    expect(
      await database.sql("select subscription_id from noetl.subscription where path = 'shop/orders' and live"),
    ).toEqual([{ subscription_id: '375000000000000201' }])
  })

  it('goes on: an execution that was running takes events from us and from a writer of the NoETL server', async () => {
    const id = idOf(7)
    // As the NoETL server inserts it: no version, and a command that failed and will be tried again.
    await database.sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name, status, meta)
       values ($1::bigint, $1::bigint + 50, 701, 'command.failed', 'load', 'FAILED', '{"command_id": "c", "attempt": 1}')`,
      [id],
    )
    await until('the row is adopted', async () => {
      const [row] = await database.sql<{ n: string }>(
        'select event_count as n from noetl.execution where execution_id = $1::bigint',
        [id],
      )
      return row!.n === '8'
    })
    expect((await json('execution', 'show', id)).status).toBe('RUNNING')
    const answer = await fetch(new URL('/api/events', daemon.url), {
      method: 'POST',
      body: JSON.stringify({ execution_id: id, event_type: 'playbook.completed', step: 'load-orders' }),
    })
    expect(await answer.json()).toMatchObject({ status: 'ok', stream_version: 9 })
    expect(await json('execution', 'show', id)).toMatchObject({ status: 'COMPLETED', event_count: '9' })
    expect(await run('replay', id, '--verify')).toMatchObject({ code: 0 })
  })
})
