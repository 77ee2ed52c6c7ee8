// Promise: of what comes from elsewhere the good is stored, the known is counted, the unusable is set aside with its
// reason and can be tried again; nothing is changed by a repetition, and no time or id loses anything.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { statement } from '../../src/db/queries.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { type Arrival, projectEnvelopes, projectWhatCanBe } from '../../src/services/projector/projector.js'
import { dropQuarantined, pageOfQuarantine, retryQuarantined } from '../../src/services/projector/quarantine.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, useDatabase } from '../support/database.js'

const database = useDatabase()
let core: TestCore

beforeAll(async () => {
  // Neither the server's nor a role's time zone may show in what is stored.
  await database
    .get()
    .sql(
      `do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'America/New_York'); end $$`,
    )
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/projector')
})
afterAll(() => core.close())

const sql = <R = Record<string, unknown>>(text: string, values: string[] = []) => database.get().sql<R>(text, values)
const project = (events: JsonValue[], source = 'test') =>
  projectEnvelopes(
    core,
    events.map((value): Arrival => ({ value })),
    source,
  )
const envelope = (executionId: string, eventId: number | bigint, fields: JsonObject = {}): JsonObject => ({
  execution_id: BigInt(executionId),
  event_id: eventId,
  event_type: 'step.enter',
  node_name: 'n',
  timestamp: '2026-04-01T12:00:00Z',
  ...fields,
})
const rowsOf = (executionId: string) =>
  sql('select * from noetl.event where execution_id = $1 order by event_id', [executionId])

describe('a batch', () => {
  it('of 200 with one that cannot be stored: 199 stored, one set aside with its reason', async () => {
    const executions = Array.from({ length: 10 }, () => core.ids.next())
    const events = Array.from({ length: 200 }, (_, n) => envelope(executions[n % 10]!, n + 1))
    events[137] = { ...events[137], event_id: 'nonsense' }
    expect(await project(events)).toEqual({ projected: 199, duplicates: 0, quarantined: 1 })
    const [set] = await pageOfQuarantine(core.databases, '0', 10)
    expect(set).toMatchObject({ reason: expect.stringContaining('/event_id'), source: 'test', attempts: 1 })
    expect(parseJson(set!.envelope.toString())).toEqual(events[137])
    const [versions] = await sql(
      `select bool_and(n = high and n = versions) as dense from (select count(*) as n, max(stream_version) as high, count(distinct stream_version) as versions from noetl.event where execution_id = any($1::bigint[]) group by execution_id) x`,
      [`{${executions.join(',')}}`],
    )
    expect(versions).toEqual({ dense: true })
    await dropQuarantined(core.databases, [set!.quarantine_id])
  })

  it('with what the table refuses sets only that aside', async () => {
    await sql(
      `alter table noetl.event add constraint chk_event_result_shape check (result is null or (jsonb_typeof(result) = 'object' and result ? 'status' and result - array['status', 'reference', 'context'] = '{}')) not valid`,
    )
    try {
      const executionId = core.ids.next()
      const events = [1, 2, 3].map((id) =>
        envelope(executionId, id, { result: id === 2 ? { data: 1 } : { status: 'x' } }),
      )
      expect(await project(events)).toEqual({ projected: 2, duplicates: 0, quarantined: 1 })
      const [set] = await pageOfQuarantine(core.databases, '0', 10)
      expect(set).toMatchObject({
        event_id: '2',
        execution_id: executionId,
        reason: expect.stringContaining('chk_event_result_shape'),
      })
      expect(await retryQuarantined(core, set!.quarantine_id)).toMatchObject({
        outcome: 'failed',
        reason: expect.any(String),
      })
      expect((await pageOfQuarantine(core.databases, '0', 10))[0]).toMatchObject({ attempts: 2 })
      await sql('alter table noetl.event drop constraint chk_event_result_shape')
      expect(await retryQuarantined(core, set!.quarantine_id)).toMatchObject({ outcome: 'stored' })
      expect(await pageOfQuarantine(core.databases, '0', 10)).toEqual([])
      expect((await rowsOf(executionId)).map((row) => row['stream_version'])).toEqual(['1', '3', '2'])
    } finally {
      await sql('alter table noetl.event drop constraint if exists chk_event_result_shape')
    }
  })

  it('again changes nothing, inside one batch and across', async () => {
    const executionId = core.ids.next()
    const events = [1, 2, 3].map((id) => envelope(executionId, id))
    expect(await project([...events, events[0]!])).toEqual({ projected: 3, duplicates: 1, quarantined: 0 })
    const before = await rowsOf(executionId)
    expect(await project(events)).toEqual({ projected: 0, duplicates: 3, quarantined: 0 })
    expect(await project([...events, envelope(executionId, 4)])).toEqual({
      projected: 1,
      duplicates: 3,
      quarantined: 0,
    })
    expect((await rowsOf(executionId)).slice(0, 3)).toEqual(before)
    const [model] = await sql('select event_count, stream_version from noetl.execution where execution_id = $1', [
      executionId,
    ])
    expect(model).toEqual({ event_count: '4', stream_version: '4' })
  })

  it('with other content under a known id sets that aside and keeps the first', async () => {
    const executionId = core.ids.next()
    await project([envelope(executionId, 1)])
    expect(await project([envelope(executionId, 1, { node_name: 'other' })])).toMatchObject({ quarantined: 1 })
    expect((await rowsOf(executionId))[0]).toMatchObject({ node_name: 'n' })
    await sql('delete from noetl.projector_quarantine')
  })

  it('writes no outbox row and tells our own events as duplicates', async () => {
    const { executionId } = await startExecution(core, { path: 'tests/projector' })
    await ingestEvent(core, {
      execution_id: executionId,
      step: 's',
      event_type: 'step.enter',
      payload: { f: 1.0, n: 1 },
    })
    const own = await sql<{ payload: string }>('select payload::text from noetl.outbox where execution_id = $1', [
      executionId,
    ])
    const bytes = own.map((row): Arrival => ({ bytes: Buffer.from(row.payload) }))
    expect(await projectEnvelopes(core, bytes, 'test')).toEqual({ projected: 0, duplicates: 2, quarantined: 0 })
    await project([envelope(executionId, 5)])
    const [count] = await sql('select count(*)::int as n from noetl.outbox where execution_id = $1', [executionId])
    expect(count).toEqual({ n: 2 })
  })

  it('stores a claim that was given elsewhere, whoever else has one', async () => {
    const executionId = core.ids.next()
    const claim = (id: number, worker: string) =>
      envelope(executionId, id, { event_type: 'command.claimed', worker_id: worker, meta: { command_id: 'c' } })
    expect(await project([claim(1, 'a'), claim(2, 'b')])).toEqual({ projected: 2, duplicates: 0, quarantined: 0 })
  })

  it('fails whole, to be sent again, when a database is away', async () => {
    const away = await openCore([database.get()], { hostName: 'away' })
    await away.close()
    await expect(projectEnvelopes(away, [{ value: envelope('1', 1) }], 'test')).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})

describe('a dead shard', () => {
  it('leaves its own envelopes untried and nobody else’s', async () => {
    const other = await cloneDatabase(inject('servers'))
    const sharded = await openCore([database.get(), other], { hostName: 'sharded' })
    try {
      await sharded.databases.shards[1]!.db.close(100)
      const arrivals = Array.from({ length: 20 }, (_, n): Arrival => ({ value: envelope(String(7_000 + n), 1) }))
      const dead = arrivals.filter((_, n) => sharded.databases.shardOf(String(7_000 + n)) === 1)
      expect(dead.length).toBeGreaterThan(3)
      const { result, untried } = await projectWhatCanBe(sharded, [...arrivals, { value: 'nonsense' }], 'test')
      expect(result).toEqual({ projected: 20 - dead.length, duplicates: 0, quarantined: 1 })
      expect(new Set(untried?.arrivals)).toEqual(new Set(dead))
      expect(untried?.error.code).toBe('unavailable')
      await expect(projectEnvelopes(sharded, arrivals, 'test')).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      await sharded.close()
      await other.drop()
      await sql('delete from noetl.projector_quarantine')
    }
  })
})

describe('columns', () => {
  it('keep parents, worker, big ids and numbers', async () => {
    const executionId = String(2n ** 62n + 1n)
    const big = 2n ** 63n - 1n
    await project([
      envelope(executionId, big, {
        catalog_id: '9007199254740993',
        parent_execution_id: 9007199254740995n,
        parent_event_id: '9007199254740997',
        worker_id: 'w-1',
        duration: 1.25,
        context: { id: 9007199254740993n, f: 1.5 },
      }),
    ])
    const [row] = await sql('select *, context::text as text from noetl.event where execution_id = $1', [executionId])
    expect(row).toMatchObject({
      event_id: String(big),
      catalog_id: '9007199254740993',
      parent_execution_id: '9007199254740995',
      parent_event_id: '9007199254740997',
      worker_id: 'w-1',
      duration: 1.25,
    })
    expect(row!['text']).toContain('9007199254740993')
    const [model] = await sql('select catalog_id from noetl.execution where execution_id = $1', [executionId])
    expect(model).toEqual({ catalog_id: '9007199254740993' })
  })

  it.each([
    ['2026-04-01T12:00:00Z', '2026-04-01 12:00:00'],
    ['2026-04-01T12:00:00', '2026-04-01 12:00:00'],
    ['2026-04-01 12:00:00.123456', '2026-04-01 12:00:00.123456'],
    ['2026-04-01T16:00:00+05:00', '2026-04-01 11:00:00'],
    ['2026-04-01T16:00:00.5-03:30', '2026-04-01 19:30:00.5'],
  ])('timestamp %s is stored as %s UTC', async (timestamp, stored) => {
    const executionId = core.ids.next()
    await project([envelope(executionId, 1, { timestamp })])
    await project([envelope(executionId, 2, { timestamp: null, created_at: timestamp })])
    const rows = await sql(
      `select created_at::text, event_time = created_at at time zone 'utc' as same from noetl.event where execution_id = $1`,
      [executionId],
    )
    expect(rows).toEqual([
      { created_at: stored, same: true },
      { created_at: stored, same: true },
    ])
  })

  it.each([[null], ['']])('timestamp %j is the time of arrival, in UTC', async (timestamp) => {
    const executionId = core.ids.next()
    await project([envelope(executionId, 1, { timestamp, created_at: timestamp })])
    const plain = createConnection(database.get().settings)
    try {
      await plain.run(statement(`set timezone = 'Asia/Kolkata'`), [], 5_000)
      const [row] = await plain.run<{ age: number }>(
        {
          name: 'age',
          text: `select extract(epoch from now() - created_at at time zone 'utc')::float8 as age from noetl.event where execution_id = $1`,
        },
        [executionId],
        5_000,
      )
      expect(Math.abs(row!.age)).toBeLessThan(60)
    } finally {
      await plain.close(1_000)
    }
  })

  it('a start that comes after its events completes what is known of the execution', async () => {
    const executionId = core.ids.next()
    await project([envelope(executionId, 5, { event_type: 'playbook.completed', timestamp: '2026-04-01T12:05:00Z' })])
    await project([
      envelope(executionId, 1, {
        event_type: 'playbook_started',
        catalog_id: 77,
        parent_execution_id: 8,
        context: { path: 'some/where' },
      }),
    ])
    const [model] = await sql(
      `select status, catalog_id, path, parent_execution_id, start_time at time zone 'utc' as started from noetl.execution where execution_id = $1`,
      [executionId],
    )
    expect(model).toEqual({
      status: 'COMPLETED',
      catalog_id: '77',
      path: 'some/where',
      parent_execution_id: '8',
      started: '2026-04-01 12:00:00',
    })
  })
})

describe('what is not an envelope', () => {
  it.each([
    ['not JSON', Buffer.from('nonsense')],
    ['nothing', Buffer.alloc(0)],
    ['no event id', Buffer.from('{"execution_id":1}')],
    ['a list', Buffer.from('[1,2]')],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['NUL in a text', Buffer.from('{"event_id":1,"node_name":"a\\u0000b"}')],
    ['a megabyte of garbage', Buffer.alloc(1_000_000, 0xee)],
    ['deep nesting', Buffer.from(`{"event_id":1,"context":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)],
    ['an event id beyond 64 bits', Buffer.from('{"event_id":92233720368547758070}')],
    ['a type longer than a name may be', Buffer.from(`{"event_id":1,"event_type":"${'x'.repeat(2_000)}"}`)],
  ])('%s is set aside as it came, once', async (_name, bytes) => {
    for (let turn = 0; turn < 2; turn++)
      expect(await projectEnvelopes(core, [{ bytes }], 'stream')).toEqual({
        projected: 0,
        duplicates: 0,
        quarantined: 1,
      })
    const [row, ...others] = await pageOfQuarantine(core.databases, '0', 10)
    expect(others).toEqual([])
    expect(Buffer.compare(row!.envelope, bytes)).toBe(0)
    expect(row).toMatchObject({ attempts: 2, source: 'stream', reason: expect.stringMatching(/\w{3}/) })
    expect(row!.reason.length).toBeLessThan(1_000)
    expect(await retryQuarantined(core, row!.quarantine_id)).toMatchObject({ outcome: 'failed', reason: row!.reason })
    expect(await dropQuarantined(core.databases, [row!.quarantine_id])).toBe(1)
    await expect(retryQuarantined(core, row!.quarantine_id)).rejects.toMatchObject({ code: 'not_found' })
  })
})
