// Promise: whatever the columns of an event hold comes out of a replay page unchanged, however long the texts are and
// wherever the pages are cut; and reading can stop anywhere.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createConnection } from '../../src/db/connection.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { createRowReader, eventIdOfRow, tapeMarkOf } from '../../src/stores/replay/replayRows.js'
import { type LogRange, type ReplayColumns, readLog } from '../../src/stores/replay/replayStore.js'
import { useDatabase } from '../support/database.js'

const ODD = [
  '',
  'plain',
  'NULL',
  'null',
  'a,b',
  '{x}',
  '}{',
  'say "hi"',
  'back\\slash',
  '\\"',
  ' lead',
  'tab\t',
  'line\nbreak\r\n',
  '\u001f\u001e\u2028',
  'é😀',
  "it's",
  'long '.repeat(20_000),
]
const EXECUTION = '7100'

const database = useDatabase()
let connection: Connection

beforeAll(async () => {
  connection = createConnection(database.get().settings)
  for (const [index, text] of ODD.entries()) {
    const meta = JSON.stringify({ [text]: text, number: '#', list: [text, null] }).replace(
      '"#"',
      '12345678901234567890.50',
    )
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, status, node_name, worker_id, aggregate_type,
         aggregate_id, meta, payload_ref, stage_id, command_id, stream_version)
       values ($1::bigint, $2::bigint, 1, $3::text, $3::text, $3::text, $3::text, $3::text, $3::text, $4::text::jsonb,
         $5::text::jsonb, -9223372036854775808, $2::bigint, $6::int)`,
      [EXECUTION, (BigInt(index) - 3n) * 10n ** 17n, text, meta, index % 2 === 0 ? meta : 'null', index + 1],
    )
  }
  await database
    .get()
    .sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, stream_version) values ($1::bigint, 9000000000000000000, 1, 'bare', 99)`,
      [EXECUTION],
    )
})
afterAll(() => connection.close(1_000))

async function read(columns: ReplayColumns, pageSize: number, countMax = Number.POSITIVE_INFINITY) {
  const range: LogRange = {
    executionId: EXECUTION,
    tenantId: 'default',
    organizationId: 'default',
    columns,
    fromEventId: -(2n ** 63n),
    toEventId: 2n ** 63n - 1n,
    untilTime: null,
    untilVersion: null,
    pageSize,
  }
  const toEvent = createRowReader()
  const events: JsonObject[] = []
  const times: (string | undefined)[] = []
  const marks: ReturnType<typeof tapeMarkOf>[] = []
  await readLog(connection, range, {
    leftMs: () => 10_000,
    onRow: (row) => {
      if (events.length >= countMax) return false
      const event = toEvent(row)
      expect(eventIdOfRow(row)).toBe(String(event['event_id']))
      events.push(event)
      times.push(row.created_at)
      if (columns === 'tape') marks.push(tapeMarkOf(row))
      return true
    },
  })
  return { events, times, marks }
}

describe('a page', () => {
  it.each(['cp', 'timed', 'tape', 'python'] as const)('of columns %s gives what the table holds', async (columns) => {
    const stored = await database.get().sql<Record<string, string | null>>(
      `select event_id, event_type, status, node_name, worker_id, aggregate_type, aggregate_id, meta::text as meta,
         payload_ref::text as payload_ref, stage_id, frame_id, command_id, schema_name, created_at::text as created_at,
         stream_version, date_part('epoch', created_at) * 1000 as ms
       from noetl.event where execution_id = $1::bigint order by event_id`,
      [EXECUTION],
    )
    const json = (text: string | null | undefined) => (text === null || text === undefined ? null : parseJson(text))
    const { events, times, marks } = await read(columns, 5_000)
    const expected = stored.map((row) => ({
      event_type: row['event_type'],
      status: row['status'],
      node_name: row['node_name'],
      worker_id: columns === 'python' ? null : row['worker_id'],
      aggregate_type: row['aggregate_type'],
      aggregate_id: row['aggregate_id'],
      meta: json(row['meta']),
      payload_ref: json(row['payload_ref']),
      stage_id: row['stage_id'],
      frame_id: row['frame_id'],
      command_id: row['command_id'],
      ...(columns === 'python' ? { schema_name: row['schema_name'], schema_version: 1 } : {}),
    }))
    expect(events.map(({ event_id: _id, ...event }) => event)).toEqual(expected)
    expect(events.map((event) => String(event['event_id']))).toEqual(stored.map((row) => row['event_id']))
    if (columns === 'tape') {
      expect(marks.map(({ version }) => version)).toEqual(stored.map((row) => Number(row['stream_version'])))
      for (const [index, { timeMs }] of marks.entries()) expect(timeMs).toBeCloseTo(Number(stored[index]!['ms']), 3)
    }
    expect(times).toEqual(stored.map((row) => (columns === 'cp' || columns === 'tape' ? undefined : row['created_at'])))
  })

  it('of any size gives the same events', async () => {
    const { events } = await read('cp', 5_000)
    for (const size of [1, 2, 7]) expect((await read('cp', size)).events).toEqual(events)
  })

  it('is left where the reader has enough', async () => {
    for (const count of [0, 1, 5]) expect((await read('cp', 3, count)).events).toHaveLength(count)
  })
})
