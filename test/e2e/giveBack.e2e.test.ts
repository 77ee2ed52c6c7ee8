// Promise: a database of either generation of the NoETL server is adopted, served while its writers keep inserting as they do,
// and given back. After `schema remove` nothing of noetl-cp is left in the way: the queries of the NoETL server run and find
// everything, what came in meanwhile and what was written by us included. It can be adopted again.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { countBy } from '../support/outboxRows.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const KEY = 'a-secret-key-of-at-least-thirty-two-characters'
/** Tables of the NoETL server that an installation may lack and `migrate` makes; they stay. */
const THEIRS = /^(?:projection|projection_snapshot|subscription_dedup|result_store|event_\w+|command_p?\d+)$/

interface Generation {
  name: string
  fixture: string
  catalogId: string
  /** An execution of the fixture. */
  known: string
  /** One event as that server inserts it. */
  insert: string
}

const GENERATIONS: Generation[] = [
  {
    name: 'older (Python)',
    fixture: 'noetl-existing.sql',
    catalogId: '11',
    known: '370000000000000001',
    insert: `insert into noetl.event (execution_id, event_id, parent_event_id, catalog_id, created_at, event_type, node_id, node_name,
        node_type, status, duration, context, result, meta, error, stack_trace, worker_id)
      values ($1::bigint, $2::bigint, null, $3::bigint, current_timestamp, $4, 'step', 'step', 'playbook', $5, 0.5, '{}', '{"status": "ok"}',
        '{"attempt": 1}', null, null, 'worker-py')`,
  },
  {
    name: 'newer (Rust)',
    fixture: 'noetl-in-use.sql',
    catalogId: '701',
    known: ((BigInt(Date.UTC(2026, 9, 17, 12)) - 1_704_067_200_000n + 1000n) << 22n).toString(),
    insert: `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, result, meta, worker_id,
        prev_event_id, created_at)
      values ($1::bigint, $2::bigint, $3::bigint, $4, 'step', 'step', $5, '{"status": "ok", "context": {"n": 1}}', '{"actionable": true}',
        'worker-rs', $2::bigint - 1, now() at time zone 'utc') on conflict (execution_id, event_id) do nothing`,
  },
]

describe.each(GENERATIONS)('a database of the $name generation', ({ fixture, catalogId, known, insert }) => {
  let database: TestDatabase
  let stream: TestStream
  let env: Record<string, string>
  let daemon: Daemon | undefined
  let before: Set<string>
  let ours: string
  let ref: string
  const foreign = '372000000000000000'
  let written = 0

  const run = (...args: string[]) => builtCli(args, { env })
  const relations = async () =>
    new Set(
      (
        await database.sql<{ name: string }>(
          "select relname as name from pg_class where relnamespace = 'noetl'::regnamespace and relkind in ('r', 'p', 'v', 'S')",
        )
      ).map(({ name }) => name),
    )
  const functions = async () =>
    (
      await database.sql<{ name: string }>(
        "select proname as name from pg_proc where pronamespace = 'noetl'::regnamespace order by 1",
      )
    ).map(({ name }) => name)
  const post = async (path: string, body: unknown, method = 'POST') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` }
    const answer = await fetch(new URL(path, daemon!.url), { method, headers, body: JSON.stringify(body) })
    expect(answer.status, path).toBeLessThan(300)
    return answer.json() as Promise<Record<string, string>>
  }
  let functionsBefore: string[]

  beforeAll(async () => {
    database = await cloneDatabase(inject('servers'), { empty: true })
    stream = await useStream(inject('servers'))
    await stream.make({})
    env = {
      NOETL_DATABASE_URL: database.url,
      NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN,
      NOETL_CP_SECRET_KEY: KEY,
      NOETL_CP_WORKER: 'false',
      ...stream.env,
    }
    const text = readFileSync(new URL(`../fixtures/${fixture}`, import.meta.url), 'utf8')
    const connection = createConnection(database.settings)
    await connection.script(text.replaceAll("'noetl.events.", `'${stream.prefix}.`), 30_000)
    await connection.close(1_000)
    before = await relations()
    functionsBefore = await functions()
  })
  afterAll(async () => {
    await daemon?.stop('SIGKILL')
    await stream.close()
    await database.drop()
  })

  const write = async (type: string, status: string) => {
    written += 1
    await database.sql(insert, [foreign, String(BigInt(foreign) + BigInt(written)), catalogId, type, status])
  }

  it('is served beside a writer that inserts as that server does', async () => {
    expect(await run('migrate')).toMatchObject({ code: 0 })
    daemon = await startDaemon([], { env })
    await write('playbook_started', 'STARTED')
    for (let n = 0; n < 20; n++) await write(n % 2 === 0 ? 'step.enter' : 'step.exit', 'COMPLETED')
    const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t, path: test/ours}\nworkflow:\n- {step: a, tool: {kind: python, code: "x"}}\n`
    await post('/api/catalog/register', { content })
    ours = (await post('/api/execute', { path: 'test/ours' }))['execution_id']!
    ref = (await post(`/api/result/${ours}`, { name: 'large', data: { access_token: 'zq81', rows: [1, 2] } }, 'PUT'))[
      'ref'
    ]!
    await post('/api/events', { execution_id: ours, event_type: 'step.enter', step: 'a' })
    await write('playbook.completed', 'COMPLETED')
    await until('the rows of the other writer are adopted', async () => {
      const [row] = await database.sql<{ n: string; status: string }>(
        'select event_count as n, status from noetl.execution where execution_id = $1::bigint',
        [foreign],
      )
      return row?.n === String(written) && row.status === 'COMPLETED'
    })
    await until(
      'the outbox is empty',
      async () => Object.keys(await countBy(database)).every((status) => ['PUBLISHED', 'DEAD'].includes(status)),
      { timeoutMs: 60_000 },
    )
  })

  it('is not taken from a daemon that runs, nor without a word', async () => {
    expect(await run('schema', 'remove')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    const refused = await run('schema', 'remove', '--yes')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('at work')
    expect((await daemon!.get('/livez')).status).toBe(200)
  })

  it('is given back: what is left is what the NoETL server knows', async () => {
    await daemon!.stop()
    daemon = undefined
    const removed = await run('schema', 'remove', '--yes', '--json')
    expect(removed, removed.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(removed.stdout).databases).toEqual([{ database: 'postgres', results: 1, removed: true }])
    expect([...(await relations())].filter((name) => !before.has(name) && !THEIRS.test(name))).toEqual([])
    expect(await functions()).toEqual(functionsBefore)
    const again = await run('schema', 'remove', '--yes', '--json')
    expect(JSON.parse(again.stdout).databases).toEqual([{ database: 'postgres', results: 0, removed: false }])
  })

  it('its queries run and find everything', async () => {
    const { sql } = database
    // The log as both generations load it, and the catalog of an event by its first row.
    for (const [id, least] of [
      [known, 3],
      [foreign, written],
      [ours, 2],
    ] as const) {
      const rows = await sql<{ event_type: string }>(
        `select event_id, event_type, status, node_name, result, meta, tenant_id, organization_id, stream_id, stream_version,
           aggregate_id, aggregate_type, schema_name, schema_version, event_time, ingest_time, payload_ref, envelope_checksum
         from noetl.event where execution_id = $1::bigint and tenant_id = 'default' and organization_id = 'default'
         order by event_id limit 10000`,
        [id],
      )
      expect(rows.length).toBeGreaterThanOrEqual(least)
      expect(rows[0]!.event_type).toMatch(/^playbook[._]started$/)
      expect(
        await sql('select catalog_id from noetl.event where execution_id = $1::bigint order by event_id limit 1', [id]),
      ).toHaveLength(1)
    }
    expect(await sql('select 1 from noetl.event_log where execution_id = $1::bigint', [foreign])).toHaveLength(written)
    // A result by its reference, secrets included: that server keeps them so.
    const resultId = ref.split('/').at(-1)!
    expect(
      await sql('select data::text as data from noetl.result_store where result_id = $1::bigint', [resultId]),
    ).toEqual([{ data: '{"rows": [1, 2], "access_token": "zq81"}' }])
    // The newest version of a path, and the next one.
    const [entry] = await sql<{ catalog_id: string }>(
      `insert into noetl.catalog (catalog_id, path, version, kind, content)
       select 999, 'test/ours', max(version) + 1, 'playbook', 'kind: Playbook' from noetl.catalog where path = 'test/ours' returning catalog_id`,
    )
    expect(entry).toEqual({ catalog_id: '999' })
    // Writers go on, and both ends of the outbox: enqueue (a row without an execution twice), claim, published, failed.
    await write('step.enter', 'STARTED')
    for (const execution of [foreign, foreign, null, null]) {
      await sql(
        `insert into noetl.outbox (execution_id, event_id, subject, payload, payload_codec) values ($1::bigint, 77, 's', '{"event_id": 77}', 'json')
         on conflict (execution_id, event_id) do nothing`,
        [execution],
      )
    }
    const claimed = await sql<{ outbox_id: string }>(
      `update noetl.outbox set status = 'IN_FLIGHT', attempts = attempts + 1, locked_at = now(), updated_at = now()
       where outbox_id in (select outbox_id from noetl.outbox where status in ('PENDING', 'FAILED') and available_at <= now()
         order by outbox_id limit 100 for update skip locked)
       returning outbox_id, event_id, execution_id, subject, payload, payload_codec, attempts, payload_bytes`,
    )
    expect(claimed).toHaveLength(3)
    await sql(
      `update noetl.outbox set status = 'PUBLISHED', published_at = now(), updated_at = now(), last_error = null where outbox_id = any($1::bigint[])`,
      [claimed.slice(1).map(({ outbox_id }) => outbox_id)],
    )
    await sql(
      `update noetl.outbox set status = 'FAILED', available_at = now() + interval '1 second', last_error = 'x' where outbox_id = $1::bigint`,
      [claimed[0]!.outbox_id],
    )
    const plan = await sql<{ line: string }>(
      `select indexdef as line from pg_indexes where schemaname = 'noetl' and indexname = 'idx_outbox_status_available'`,
    )
    expect(plan).toHaveLength(1)
    // A command, its claim by the event that issued it, a snapshot of its state cache, an execution of its read model.
    await sql(
      `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, tool_kind, context, meta)
       values (5001, 5002, $1::bigint, $2::bigint, 'step', 'http', '{}', '{}')`,
      [foreign, catalogId],
    )
    expect(await sql('select status from noetl.command where event_id = 5002')).toEqual([{ status: 'PENDING' }])
    await sql(
      `insert into noetl.projection_snapshot (tenant_id, organization_id, aggregate_type, aggregate_id, version, snapshot, checksum)
       values ('default', 'default', 'orchestrator_workflow_state', $1, 5, '{}', 'x')
       on conflict (tenant_id, organization_id, aggregate_type, aggregate_id) do update set version = excluded.version`,
      [foreign],
    )
    expect(await sql('select status from noetl.execution where execution_id = $1::bigint', [foreign])).toEqual([
      { status: 'COMPLETED' },
    ])
  })

  it('can be adopted again, with what was written since', async () => {
    const migrated = await run('migrate')
    expect(migrated, migrated.stderr).toMatchObject({ code: 0 })
    const verified = await run('replay', 'verify', '--all', '--json')
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse((await run('replay', foreign, '--json')).stdout)).toMatchObject({ event_count: written })
  })
})
