// Promise: one transaction writes the event, its outbox row, its dense version and the read model, or nothing of
// them; the same event again changes nothing, another under its id is refused, and nobody pays for a neighbour.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventRecord } from '../../src/domain/events/eventRecord.js'
import { evolveExecution, UNKNOWN_EXECUTION } from '../../src/domain/executions/executionEffect.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { toEventRecord } from '../../src/stores/events/eventRows.js'
import { findExisting } from '../../src/stores/events/eventStore.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let catalogId: string

beforeAll(async () => {
  core = await openCore([database.get()])
  catalogId = await registerPlaybook(core, 'tests/append')
})
afterAll(() => core.close())

const start = async (): Promise<string> => (await startExecution(core, { path: 'tests/append' })).executionId
const post = (body: JsonObject) => ingestEvent(core, { step: 's', event_type: 'step.enter', ...body })
const sql = <R>(text: string, values: string[] = []) => database.get().sql<R>(text, values)

interface Counts {
  events: string
  outbox: string
  executions: string
}
const counts = async (): Promise<Counts> =>
  (
    await sql<Counts>(
      'select (select count(*) from noetl.event)::text as events, (select count(*) from noetl.outbox)::text as outbox, (select count(*) from noetl.execution)::text as executions',
    )
  )[0]!

describe('one append', () => {
  it('whose statements fail one after the other fails once, and leaves no failure that nobody waits for', async () => {
    const executionId = await start()
    await sql('update noetl.execution set engine = 1 where execution_id = $1::bigint', [executionId])
    await sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused by the test'; end $$`,
    )
    await sql('create trigger refuse before update on noetl.command for each statement execute function refuse()')
    try {
      const before = await counts()
      await expect(post({ execution_id: executionId, event_type: 'playbook.completed' })).rejects.toThrow(
        'refused by the test',
      )
      expect(await counts()).toEqual(before)
    } finally {
      await sql('drop trigger refuse on noetl.command')
    }
  })
  it('writes event, outbox row, version and read model', async () => {
    const executionId = await start()
    const outcome = await post({ execution_id: executionId, payload: { n: 1.5, big: 2n ** 60n }, worker_id: 'w1' })
    expect(outcome).toMatchObject({ kind: 'stored', streamVersion: '2', executionStatus: 'RUNNING' })
    const [row] = await sql<Record<string, unknown>>(
      `select e.event_id, e.stream_version, e.result, e.worker_id, e.catalog_id, o.subject, o.payload::text as payload, o.status as outbox_status,
         o.payload_codec, x.stream_version as last_version, x.event_count, x.last_event_id, x.status, x.path
       from noetl.event e join noetl.outbox o using (execution_id, event_id) join noetl.execution x using (execution_id)
       where execution_id = $1 and e.stream_version = 2`,
      [executionId],
    )
    expect(row).toMatchObject({
      result: { status: 'RUNNING', context: { n: 1.5, big: 2n ** 60n } },
      worker_id: 'w1',
      catalog_id: catalogId,
      subject: `noetl.events.default.default.${executionId}.0`,
      outbox_status: 'PENDING',
      payload_codec: 'json',
      last_version: '2',
      event_count: '2',
      last_event_id: row!['event_id'],
      status: 'RUNNING',
      path: 'tests/append',
    })
    expect(parseJson(row!['payload'] as string)).toMatchObject({
      event_id: BigInt(row!['event_id'] as string),
      execution_id: BigInt(executionId),
      stream_version: 2,
      catalog_id: BigInt(catalogId),
    })
  })

  it('sets both times to the event’s own', async () => {
    const executionId = await start()
    await post({ execution_id: executionId, event_id: '77', created_at: '2026-03-01T10:00:00.123456+02:00' })
    const [row] = await sql<{ same: boolean; created_at: string }>(
      `select created_at::text, event_time = created_at at time zone 'utc' as same from noetl.event where execution_id = $1 and event_id = 77`,
      [executionId],
    )
    expect(row).toEqual({ created_at: '2026-03-01 08:00:00.123456', same: true })
  })

  it('for an unknown execution is refused as not found and writes nothing', async () => {
    const before = await counts()
    await expect(post({ execution_id: '4242' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(
      ingestBatch(core, { execution_id: '4242', events: [{ step: 's', event_type: 'step.enter' }] }),
    ).rejects.toMatchObject({ code: 'not_found' })
    expect(await counts()).toEqual(before)
  })
})

describe('start events posted by a client', () => {
  it.each([
    ['path', () => ({ path: 'tests/append' })],
    ['path in the payload', () => ({ payload: { path: 'tests/append' } })],
    ['catalog id', () => ({ catalog_id: catalogId })],
  ])('bring an execution into being by %s', async (_name, named) => {
    const executionId = core.ids.next()
    await ingestEvent(core, { execution_id: executionId, event_type: 'playbook_started', ...named() })
    const [row] = await sql<Record<string, unknown>>('select * from noetl.execution where execution_id = $1', [
      executionId,
    ])
    expect(row).toMatchObject({ catalog_id: catalogId, path: 'tests/append', status: 'RUNNING', stream_version: '1' })
  })
  it('are refused without a known catalog entry', async () => {
    const body = { execution_id: core.ids.next(), event_type: 'playbook.started' }
    await expect(ingestEvent(core, body)).rejects.toMatchObject({ code: 'refused' })
    await expect(ingestEvent(core, { ...body, path: 'no/such' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(ingestEvent(core, { ...body, catalog_id: 12345 })).rejects.toMatchObject({ code: 'not_found' })
  })
  it('and what follows may come in one batch', async () => {
    const executionId = core.ids.next()
    const outcomes = await ingestBatch(core, {
      execution_id: executionId,
      events: [
        { event_type: 'playbook_started', path: 'tests/append' },
        { event_type: 'step.enter', step: 'a' },
        { event_type: 'playbook_completed' },
      ],
    })
    expect(outcomes.map((outcome) => outcome.kind === 'stored' && outcome.streamVersion)).toEqual(['1', '2', '3'])
  })
})

describe('the same event again', () => {
  it('gives the same answer and stores nothing', async () => {
    const executionId = await start()
    const body = { execution_id: executionId, event_id: '9007199254740993', payload: { b: 1, a: [1, 2] } }
    const first = await post(body)
    const before = await counts()
    const again = await post({ ...body, payload: { a: [1, 2], b: 1 } })
    expect(again).toEqual({ ...first, kind: 'duplicate' })
    expect(await counts()).toEqual(before)
  })
  it('but with other content is a conflict', async () => {
    const executionId = await start()
    await post({ execution_id: executionId, event_id: 5, payload: { a: 1 } })
    for (const change of [
      { payload: { a: 2 } },
      { payload: { a: 1 }, step: 't' },
      { payload: { a: 1 }, worker_id: 'w' },
    ])
      await expect(post({ execution_id: executionId, event_id: 5, ...change })).rejects.toMatchObject({
        code: 'conflict',
      })
  })
  it('is recognised inside one batch', async () => {
    const executionId = await start()
    const item = { step: 's', event_type: 'step.enter', event_id: 11, payload: { a: 1 } }
    const outcomes = await ingestBatch(core, {
      execution_id: executionId,
      events: [item, item, { ...item, payload: { a: 2 } }, { ...item, event_id: 12 }],
    })
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['stored', 'duplicate', 'conflict', 'stored'])
    expect(outcomes[3]).toMatchObject({ streamVersion: '3' })
  })
  it('is recognised among fifty at once', async () => {
    const executionId = await start()
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => post({ execution_id: executionId, event_id: 21, payload: { a: 1 } })),
    )
    expect(outcomes.filter((outcome) => outcome.kind === 'stored')).toHaveLength(1)
    expect(outcomes.every((outcome) => outcome.kind !== 'conflict')).toBe(true)
  })
  it('is recognised when the answer with the minted id was used as the id', async () => {
    const executionId = await start()
    const first = await post({ execution_id: executionId, payload: { f: 2.0, deep: { x: [null, true, 'ü'] } } })
    const eventId = first.kind === 'stored' ? first.eventId : ''
    const again = await post({
      execution_id: executionId,
      event_id: eventId,
      payload: { f: 2.0, deep: { x: [null, true, 'ü'] } },
    })
    expect(again.kind).toBe('duplicate')
  })
  it('is compared with the columns of a row that somebody else wrote', async () => {
    const executionId = await start()
    await sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, result, meta)
       values ($1, 31, 0, 'step.enter', 's', 's', 'RUNNING', '{"status": "RUNNING", "context": {"a": 1}}', '{"actionable": true, "informative": true}')`,
      [executionId],
    )
    const outcome = await post({ execution_id: executionId, event_id: 31, payload: { a: 1 } })
    expect(outcome.kind).toBe('duplicate')
    await expect(post({ execution_id: executionId, event_id: 31, payload: { a: 2 } })).rejects.toMatchObject({
      code: 'conflict',
    })
  })
})

describe('claims', () => {
  const claim = (executionId: string, worker: string, commandId: string, type = 'command.claimed') =>
    post({ execution_id: executionId, event_type: type, worker_id: worker, payload: { command_id: commandId } })

  it('are given once: the holder is told so, another worker is refused', async () => {
    const executionId = await start()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => claim(executionId, `w${index % 4}`, 'c-1')),
    )
    const values = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(values.filter((outcome) => outcome.kind === 'stored')).toHaveLength(1)
    expect(values.filter((outcome) => outcome.kind === 'claimed')).toHaveLength(4)
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(15)
    expect((await claim(executionId, 'w9', 'c-2')).kind).toBe('stored')
  })
  it('are found under both spellings of the type', async () => {
    const executionId = await start()
    await claim(executionId, 'w1', 'c-1', 'command_claimed')
    await expect(claim(executionId, 'w2', 'c-1')).rejects.toMatchObject({ code: 'conflict' })
    await expect(claim(executionId, 'w2', 'c-1', 'command_claimed')).rejects.toMatchObject({ code: 'conflict' })
  })
  it('with a command id beyond 2^53 are told apart', async () => {
    const executionId = await start()
    const big = (id: bigint, worker: string) =>
      post({ execution_id: executionId, event_type: 'command.claimed', worker_id: worker, payload: { command_id: id } })
    await big(2n ** 60n + 1n, 'w1')
    await expect(big(2n ** 60n + 1n, 'w2')).rejects.toMatchObject({ code: 'conflict' })
    expect((await big(2n ** 60n + 2n, 'w2')).kind).toBe('stored')
  })
})

describe('under concurrency', () => {
  it('50 writers on 20 executions leave versions 1..n and outbox ids in the same order', async () => {
    const executions = await Promise.all(Array.from({ length: 20 }, start))
    const other = await openCore([database.get()], { hostName: 'second-host' })
    try {
      await Promise.all(
        Array.from({ length: 50 }, async (_, writer) => {
          const via = writer % 2 === 0 ? core : other
          for (let turn = 0; turn < 6; turn++) {
            const executionId = executions[(writer * 7 + turn * 3) % 20]!
            if (turn % 3 === 2) {
              await ingestBatch(via, {
                execution_id: executionId,
                events: Array.from({ length: 5 }, () => ({ step: `w${writer}`, event_type: 'step.exit' })),
              })
            } else {
              await ingestEvent(via, { execution_id: executionId, step: `w${writer}`, event_type: 'step.enter' })
            }
          }
        }),
      )
    } finally {
      await other.close()
    }
    const rows = await sql<Record<string, unknown>>(
      `select e.execution_id, count(*)::int as n, min(e.stream_version)::int as low, max(e.stream_version)::int as high,
         count(distinct e.stream_version)::int as versions, bool_and(o.rank = e.stream_version) as outbox_in_order,
         max(x.stream_version)::int as model, max(x.event_count)::int as counted
       from noetl.event e
       join (select *, row_number() over (partition by execution_id order by outbox_id) as rank from noetl.outbox) o using (execution_id, event_id)
       join noetl.execution x using (execution_id)
       where e.execution_id = any($1::bigint[]) group by e.execution_id`,
      [`{${executions.join(',')}}`],
    )
    expect(rows).toHaveLength(20)
    for (const row of rows) {
      const { n } = row
      expect(row).toMatchObject({ low: 1, high: n, versions: n, outbox_in_order: true, model: n, counted: n })
    }
    expect(rows.reduce((sum, row) => sum + (row['n'] as number), 0)).toBe(20 + 50 * (4 + 10))
  })

  it('a caller whose data the table refuses fails alone', async () => {
    await sql(`alter table noetl.event add constraint no_poison check (node_name <> 'poison')`)
    try {
      const executionId = await start()
      const results = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          post({ execution_id: executionId, step: index === 17 ? 'poison' : 'fine' }),
        ),
      )
      expect(results.flatMap((result, index) => (result.status === 'rejected' ? [index] : []))).toEqual([17])
      expect(results[17]).toMatchObject({ reason: { code: 'refused' } })
      const [row] = await sql(
        'select count(*)::int as n, max(stream_version)::int as high from noetl.event where execution_id = $1',
        [executionId],
      )
      expect(row).toEqual({ n: 40, high: 40 })
    } finally {
      await sql('alter table noetl.event drop constraint no_poison')
    }
  })

  it('a batch with one refused row writes none of its rows', async () => {
    await sql(`alter table noetl.event add constraint no_poison check (node_name <> 'poison')`)
    try {
      const executionId = await start()
      const before = await counts()
      await expect(
        ingestBatch(core, {
          execution_id: executionId,
          events: ['a', 'b', 'poison', 'c'].map((step) => ({ step, event_type: 'step.enter' })),
        }),
      ).rejects.toMatchObject({ code: 'refused' })
      expect(await counts()).toEqual(before)
    } finally {
      await sql('alter table noetl.event drop constraint no_poison')
    }
  })
})

describe('a crash in the middle', () => {
  it('of a transaction leaves nothing', async () => {
    const executionId = await start()
    const before = await counts()
    // The read model is written last; a lock on its row from outside holds the transaction after the events.
    await sql(
      `create function noetl.test_hang() returns trigger language plpgsql as $$ begin perform pg_sleep(30); return null; end $$`,
    )
    await sql(
      `create trigger test_hang after insert on noetl.outbox for each statement execute function noetl.test_hang()`,
    )
    try {
      const writing = post({ execution_id: executionId, payload: { lost: true } })
      const refused = expect(writing).rejects.toMatchObject({ code: 'unavailable' })
      await until('the backend hangs in the outbox insert', async () => {
        const rows = await sql(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        )
        return rows.length > 0
      })
      await refused
    } finally {
      await sql('drop trigger test_hang on noetl.outbox')
      await sql('drop function noetl.test_hang()')
    }
    expect(await counts()).toEqual(before)
    expect(await post({ execution_id: executionId })).toMatchObject({ kind: 'stored', streamVersion: '2' })
  })
})

describe('the read model', () => {
  it('is the same whatever the order of arrival', async () => {
    const executionId = await start()
    const base = BigInt(core.ids.next())
    const events: JsonObject[] = [
      { event_type: 'step.enter', step: 'a' },
      { event_type: 'step.exit', step: 'b' },
      { event_type: 'playbook_failed', error: 'early' },
      { event_type: 'playbook.completed' },
      { event_type: 'command.completed', step: 'late' },
    ].map((event, index) => ({
      ...event,
      event_id: base + BigInt(index),
      created_at: `2026-05-01T10:00:0${index}Z`,
    }))
    const summaries: unknown[] = []
    for (const order of [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [3, 0, 4, 2, 1],
      [2, 4, 3, 1, 0],
    ]) {
      const id = core.ids.next()
      await ingestEvent(core, {
        execution_id: id,
        event_type: 'playbook_started',
        path: 'tests/append',
        event_id: base - 1n,
        created_at: '2026-05-01T09:00:00Z',
      })
      for (const index of order) await ingestEvent(core, { execution_id: id, ...events[index]! })
      const [row] = await sql(
        `select status, last_event_id, last_event_type, last_node_name, start_time::text, end_time::text, error, start_event_id, terminal_event_id, last_node_event_id, event_count
         from noetl.execution where execution_id = $1`,
        [id],
      )
      summaries.push(row)
      const keys = await sql<{ executionId: string; eventId: string }>(
        'select execution_id as "executionId", event_id as "eventId" from noetl.event where execution_id = $1 order by event_id',
        [id],
      )
      const log = (await findExisting(database.get().db, keys)).map((entry): EventRecord => toEventRecord(entry))
      const folded = log.reverse().reduce(evolveExecution, UNKNOWN_EXECUTION)
      expect(row).toMatchObject({
        status: folded.status,
        last_event_id: folded.lastEventId,
        last_node_name: folded.lastNodeName,
        terminal_event_id: folded.terminalEventId,
        start_event_id: folded.startEventId,
        error: folded.error ?? null,
      })
    }
    expect(summaries[0]).toMatchObject({ status: 'COMPLETED', last_node_name: 'late', error: null, event_count: '6' })
    for (const summary of summaries) expect(summary).toEqual(summaries[0])
    await endExecution(core, { executionId: executionId as never, outcome: 'CANCELLED', reason: 'test' })
    await expect(endExecution(core, { executionId: executionId as never, outcome: 'FAILED' })).rejects.toMatchObject({
      code: 'refused',
    })
  })
})
