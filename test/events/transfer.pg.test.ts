// Promise: what is exported and imported again is the same row in every column, whatever a writer put there: empty and very
// long texts, JSON null beside NULL, digits beyond a double, times of their own. A column that is added later has to be in.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { EXPORTED_COLUMNS } from '../../src/domain/events/exportedEvent.js'
import { parseJson } from '../../src/domain/json/parse.js'
import { importEvents } from '../../src/services/events/eventImport.js'
import { readEvents } from '../../src/services/events/eventReading.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { openEvents } from '../../src/services/secrets/sealedValues.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

let from: TestDatabase
let into: TestDatabase
let source: TestCore
let target: TestCore
beforeAll(async () => {
  ;[from, into] = (await Promise.all([0, 1].map(() => cloneDatabase(inject('servers'))))) as [
    TestDatabase,
    TestDatabase,
  ]
  ;[source, target] = await Promise.all([openCore([from]), openCore([into], { hostName: 'other' })])
  await registerPlaybook(source, 'tests/transfer')
})
afterAll(async () => {
  await Promise.all([source.close(), target.close()])
  await Promise.all([from.drop(), into.drop()])
})

async function exported(executionId: string): Promise<string[]> {
  const lines: string[] = []
  for await (const page of (await readEvents(source, executionId as never)).pages()) lines.push(...page)
  return lines
}

async function transfer(executionId: string): Promise<string[]> {
  const lines = await exported(executionId)
  const read = lines.map((text) => ({ text, document: parseJson(text) }))
  const answers = await importEvents(target, read, { publish: false })
  expect(new Set(answers.map((answer) => (answer.kind === 'refused' ? answer.error.message : answer.kind)))).toEqual(
    new Set(['stored']),
  )
  // And once more, there and where it came from: nothing changes.
  for (const core of [target, source]) {
    const again = await importEvents(core, read, { publish: false })
    expect(new Set(again.map((answer) => answer.kind))).toEqual(new Set(['duplicate']))
  }
  return lines
}

/** Every column as text, by name. */
const rowsOf = (database: TestDatabase, executionId: string) =>
  database.sql(
    `select ${Object.keys(EXPORTED_COLUMNS)
      .map((column) => `${column}::text`)
      .join(', ')} from noetl.event where execution_id = $1::bigint order by event_id`,
    [executionId],
  )

it('knows every column of the log', async () => {
  const rows = await from.sql<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = 'noetl.event'::regclass and attnum > 0 and not attisdropped`,
  )
  expect(rows.map((row) => row.name).toSorted()).toEqual(Object.keys(EXPORTED_COLUMNS).toSorted())
  const kinds: Record<string, string> = {
    bigint: 'id',
    integer: 'integer',
    'double precision': 'float',
    text: 'text',
    'character varying': 'text',
    jsonb: 'json',
    'timestamp without time zone': 'time',
    'timestamp with time zone': 'time',
  }
  expect(Object.fromEntries(rows.map((row) => [row.name, kinds[row.type]]))).toEqual(EXPORTED_COLUMNS)
})

// One row each: the value that a column of that kind gets.
const VALUES: [string, Record<string, string>][] = [
  ['ordinary', { text: `'é "x" \\ / ' || chr(10) || chr(8232)`, json: `'{"a": [1, 1.0, 9007199254740993, null]}'` }],
  ['empty', { text: `''`, json: `'{}'`, float: `'-0'`, integer: '0', id: '0' }],
  ['nothing', { text: 'null', json: 'null', float: 'null', integer: 'null', id: 'null' }],
  ['JSON null and what is not a number', { text: `'null'`, json: `'null'`, float: `'NaN'`, integer: '-7', id: '-5' }],
  [
    'beyond every usual size',
    {
      text: `repeat('x', 5000)`,
      json: `'{"n": 1.23456789012345678901234567890, "big": 123456789012345678901234567890123, "e": 1e300}'`,
      float: `'Infinity'`,
      integer: '2147483647',
      id: '9223372036854775807',
    },
  ],
]
const KEEP = new Set([
  'event_id',
  'execution_id',
  'stream_version',
  'created_at',
  'event_time',
  'ingest_time',
  'sealed',
])
const NOT_NULL: Record<string, string> = {
  catalog_id: '3',
  tenant_id: `'t'`,
  organization_id: `'o'`,
  schema_version: '2',
}

it('every column comes back as it was', async () => {
  const executionId = '320816801799737344'
  for (const [index, [, values]] of VALUES.entries()) {
    const columns = Object.entries(EXPORTED_COLUMNS).filter(([name]) => !KEEP.has(name))
    const value = ([name, kind]: [string, string]) => {
      if (index === 4 && name === 'error') return `repeat('x', 1200000)`
      const given = values[kind] ?? { id: '42', integer: '42', float: '1.5', time: 'now()' }[kind]!
      return given === 'null' && name in NOT_NULL ? NOT_NULL[name]! : given
    }
    await from.sql(
      `insert into noetl.event (execution_id, event_id, created_at, event_time, ingest_time, sealed, ${columns.map(([name]) => name)})
       values (${executionId}, ${index * 10 - 10}, '2026-01-01 00:00:00.000001', '2026-01-02 00:00:00.123456+05', '2026-01-03 00:00:00.9+00',
         ${index === 2 ? 'null' : "'v1.unknown.text'"}, ${columns.map((column) => value(column))})`,
    )
  }
  const lines = await transfer(executionId)
  const [was, is] = [await rowsOf(from, executionId), await rowsOf(into, executionId)]
  for (const [index, row] of was.entries()) {
    // Nobody had numbered them.
    expect(is[index]).toEqual({ ...row, stream_version: String(index + 1) })
  }
  expect(lines.some((line) => line.includes('"json_nulls":["context"'))).toBe(true)
})

it('numbers, hidden secrets and what we fill in ourselves come back, too', async () => {
  const { executionId } = await startWithSecrets()
  await transfer(executionId)
  expect(await rowsOf(into, executionId)).toEqual(await rowsOf(from, executionId))
  const read = async (core: TestCore) => {
    const [row] = await (core === source ? from : into).sql<{ event_id: string }>(
      `select event_id from noetl.event where execution_id = ${executionId} and event_type = 'step.exit'`,
    )
    return openEvents(core, 'engine', executionId, [row!.event_id])
  }
  expect(JSON.stringify(await read(target), bigintText)).toContain('hunter22')
  expect(
    await into.sql(
      'select status, path, event_count, stream_version from noetl.execution where execution_id = $1::bigint',
      [executionId],
    ),
  ).toEqual(
    await from.sql(
      'select status, path, event_count, stream_version from noetl.execution where execution_id = $1::bigint',
      [executionId],
    ),
  )
})

it('a secret that a foreign writer left in the open is hidden on the way in', async () => {
  const executionId = '320816801799737355'
  await from.sql(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type, context, meta)
     values (${executionId}, 1, 1, 'step.exit', '{"password": "hunter22", "n": 1.10}', 'null')`,
  )
  await transfer(executionId)
  const [row] = await into.sql<{ context: unknown; meta: unknown; sealed: string }>(
    `select context::text, meta::text, sealed from noetl.event where execution_id = ${executionId}`,
  )
  expect(row).toMatchObject({ context: '{"n": 1.1, "password": "[REDACTED]"}', sealed: expect.any(String) })
})

it.each([
  ['/event_id', { event_id: null }],
  ['/execution_id', { execution_id: '0' }],
  ['/timestamp', { timestamp: null }],
  ['/node_name', { node_name: 7 }],
  ['/current_index', { current_index: 2 ** 31 }],
  ['/duration', { duration: 'long' }],
  ['/command_id', { command_id: 'abc' }],
  ['/json_nulls', { json_nulls: ['error'] }],
  ['/surprise', { surprise: 1 }],
  ['/ingest_time', { ingest_time: 'yesterday' }],
])('refuses a wrong %s by name', async (field, change) => {
  const document = { event_id: 1, execution_id: '77', timestamp: '2026-01-01T00:00:00Z', event_type: 'x', ...change }
  const [answer] = await importEvents(target, [{ document }], { publish: false })
  expect(answer).toMatchObject({ kind: 'refused', error: { code: 'invalid_input' } })
  expect(answer?.kind === 'refused' && answer.error.message.startsWith(field)).toBe(true)
})

it('an export of an earlier version has one time, and it stands for the others', async () => {
  const document = { event_id: 1, execution_id: '78', timestamp: '2026-01-01T00:00:00.000001Z', event_type: 'x' }
  await importEvents(target, [{ document }], { publish: false })
  const [row] = await into.sql(
    `select event_time = ingest_time as same, ingest_time = created_at at time zone 'utc' as own from noetl.event where execution_id = 78`,
  )
  expect(row).toEqual({ same: true, own: true })
})

async function startWithSecrets(): Promise<{ executionId: string }> {
  const executionId = source.ids.next()
  await ingestEvent(source, {
    execution_id: executionId,
    event_type: 'playbook_started',
    path: 'tests/transfer',
    payload: { path: 'tests/transfer', n: 1.5 },
  })
  await ingestEvent(source, {
    execution_id: executionId,
    event_type: 'step.exit',
    step: 'login',
    event_id: source.ids.next(),
    payload: { access_token: 'hunter22', rows: 3 },
  })
  return { executionId }
}

const bigintText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
