// Promise: what is stored is what comes back. 64-bit integers, JSON numbers, microseconds and odd texts survive,
// and every session thinks in UTC, whatever the process and the server think.
import { describe, expect, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { arrayLiteral, type Param } from '../../src/db/params.js'
import { statement } from '../../src/db/queries.js'
import { writeJson } from '../../src/domain/json/write.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()

async function one<R = Record<string, unknown>>(text: string, values: readonly Param[] = []): Promise<R> {
  return (await database.get().sql<R>(text, values))[0]!
}

describe('numbers', () => {
  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '0'])('bigint %s', async (text) => {
    expect(await one('select $1::bigint as a, $2::bigint as b', [text, BigInt(text)])).toEqual({ a: text, b: text })
  })
  it('numeric stays text, int and double are numbers', async () => {
    expect(await one("select '1.10'::numeric as n, 7::int as i, 1.5::float8 as d, true as t")).toEqual({
      n: '1.10',
      i: 7,
      d: 1.5,
      t: true,
    })
  })
})

describe('json', () => {
  it.each(['json', 'jsonb'])('%s keeps big integers and tells 1 from 1.0', async (type) => {
    const text = '{"a": 9007199254740993, "b": 1, "c": 1.0, "d": [123456789012345678901234567890], "e": "x"}'
    const row = await one<{ value: never }>(`select $1::${type} as value`, [text])
    expect(writeJson(row.value)).toBe(
      '{"a":9007199254740993,"b":1,"c":1.0,"d":[123456789012345678901234567890],"e":"x"}',
    )
  })
  it('text parameters are not encoded twice; SQL null, JSON null and a JSON string stay apart', async () => {
    const row = await one(
      `select jsonb_typeof($1::jsonb) as object, jsonb_typeof($2::jsonb) as nothing, jsonb_typeof($3::jsonb) as text, $4::jsonb as absent`,
      ['{"a":1}', 'null', '"s"', null],
    )
    expect(row).toEqual({ object: 'object', nothing: 'null', text: 'string', absent: null })
  })
  it('a text that jsonb cannot hold is the fault of the input', async () => {
    await expect(one('select $1::jsonb as x', ['"\\u0000"'])).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(one('select $1::jsonb as x', ['{'])).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('times', () => {
  it('keep their microseconds, with and without zone', async () => {
    const row = await one(
      "select $1::timestamptz as zoned, $2::timestamp as plain, $3::date as day, 'infinity'::timestamptz as never",
      ['2026-03-29T03:15:00.123456+02:00', '2026-03-29 02:15:00.123456', '2026-03-29'],
    )
    expect(row).toEqual({
      zoned: '2026-03-29 01:15:00.123456+00',
      plain: '2026-03-29 02:15:00.123456',
      day: '2026-03-29',
      never: 'infinity',
    })
  })
  it('are UTC although the server, the database and the process say otherwise', async () => {
    const { settings, sql } = database.get()
    const before = process.env['TZ']
    process.env['TZ'] = 'Pacific/Chatham'
    await sql(`alter database ${settings.target.database} set timezone = 'America/St_Johns'`)
    const connection = createConnection(settings)
    try {
      const [row] = await connection.run<{ zone: string; utc: boolean }>(
        statement("select current_setting('TimeZone') as zone, localtimestamp = now() at time zone 'utc' as utc"),
        [],
        5_000,
      )
      expect(row).toEqual({ zone: 'UTC', utc: true })
    } finally {
      await connection.close(1_000)
      await sql(`alter database ${settings.target.database} reset timezone`)
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })
})

describe('arrays', () => {
  const texts = [
    'plain',
    '',
    'NULL',
    'null',
    'a"b',
    'back\\slash',
    '{brace}',
    'com,ma',
    ' space ',
    'new\nline',
    'żółć 🚀',
    "quo'te",
    '007',
    '-0',
    '\\"',
  ]
  it('of text come back as they went, with every kind of special character', async () => {
    const rows = await database
      .get()
      .sql<{ value: string | null }>(
        'select value from unnest($1::text[]) with ordinality as u(value, at) order by at',
        [[...texts, null]],
      )
    expect(rows.map((row) => row.value)).toEqual([...texts, null])
  })
  it('of ids, numbers, booleans and JSON', async () => {
    const row = await one<Record<string, unknown>>(
      `select ($1::bigint[])[1]::text as id, ($2::int[])[2] as n, ($3::boolean[])[1] as yes, ($4::jsonb[])[1] ->> 'a' as json, cardinality($5::bigint[]) as none`,
      [['9223372036854775807', 5n], [1, 2], [true, false], ['{"a":"x\\"y"}', '[1,{}]'], []],
    )
    expect(row).toEqual({ id: '9223372036854775807', n: 2, yes: true, json: 'x"y', none: 0 })
  })
  it('cannot break out of their literal', () => {
    expect(arrayLiteral(['"},{"', '\\'])).toBe('{"\\"},{\\"","\\\\"}')
  })
})

describe('bytes and prepared statements', () => {
  it('bytea goes both ways', async () => {
    const bytes = new Uint8Array([0, 1, 255, 39, 92])
    const row = await one<{ value: Uint8Array }>('select $1::bytea as value', [bytes])
    expect([...row.value]).toEqual([...bytes])
  })
  it('the same holds without prepared statements, as behind PgBouncer', async () => {
    const connection = createConnection({ ...database.get().settings, prepare: false })
    try {
      const [row] = await connection.run<{ id: string; value: never; list: string }>(
        { name: 'test', text: 'select $1::bigint as id, $2::jsonb as value, ($3::text[])[2] as list' },
        ['9223372036854775807', '{"a": 1.0}', ['x', 'y"z']],
        5_000,
      )
      expect([row!.id, writeJson(row!.value), row!.list]).toEqual(['9223372036854775807', '{"a":1.0}', 'y"z'])
      const prepared = await connection.run<{ count: string }>(
        statement('select count(*) from pg_prepared_statements'),
        [],
        5_000,
      )
      expect(prepared[0]!.count).toBe('0')
    } finally {
      await connection.close(1_000)
    }
  })
  it('count tells how many rows were touched', async () => {
    const { sql } = database.get()
    await sql('create table if not exists counted (a int)')
    expect((await sql('insert into counted select generate_series(1, 7)')).count).toBe(7)
    expect((await sql('update counted set a = a where a > 5')).count).toBe(2)
  })
})
