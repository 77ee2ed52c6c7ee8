// Promise: kind transfer brings rows of a query or an address into a table, every value exactly, all of them or none.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { useDatabase } from '../support/database.js'
import { reply, useHttpServer } from '../support/httpServer.js'
import { useTools } from '../support/toolRunner.js'

const database = useDatabase({ empty: true })
const posts = [
  {
    userId: 1,
    id: 10,
    title: 'it\'s "quoted" \\ {x}',
    body: 'line\nline',
    tags: ['a', 'b c'],
    meta: { deep: [1] },
    note: 'n',
  },
  { userId: 2, id: 11, title: null, body: '', tags: [], meta: 'text', note: 'n' },
]
const server = useHttpServer((request, response) =>
  reply(response, 200, request.url === '/nested' ? { result: { items: posts } } : request.url === '/map' ? {} : posts),
)
const tools = useTools(
  {},
  {
    credentials: {
      find: async (name) => ({ name, type: 'postgres', data: { connection_string: database.get().url } }),
    },
  },
)
const sql = (text: string) => database.get().sql(text)
const transfer = (source: JsonObject, target: JsonObject, more: JsonObject = {}) =>
  tools.tool({ kind: 'transfer', source, target: { kind: 'postgres', auth: 'pg', ...target }, ...more })
const fromPg = (query: string): JsonObject => ({ kind: 'postgres', auth: 'pg', query })

describe('from Postgres', () => {
  it('every type arrives as it was, in chunks', async () => {
    const types = `id int primary key, big int8, num numeric(30,10), f float8, t text, j jsonb, a text[], m int[][], b bytea,
      ts timestamptz, d date, u uuid, i interval, n text`
    await sql(`create table t_from (${types})`)
    await sql(`create table t_to (${types})`)
    await sql(`insert into t_from select g, 9223372036854775807, 1.0000000001 * g, 0.1, e'tab\\t"quote" \\\\ ''x'' {}', '{"a": [1, "b"]}',
      array['x,y', null, 'NULL', '"'], '{{1,2},{3,4}}', '\\x00ff', '2026-01-02 03:04:05.123456+02', '2026-01-02',
      '6ccd780c-baba-1026-9564-5b8c656024db', '1 day 2 hours', null from generate_series(1, 2500) g`)
    const { data, error } = await transfer(fromPg('select * from t_from order by id'), { table: 't_to' })
    expect(error).toBeUndefined()
    expect(data).toEqual({
      status: 'success',
      table: 't_to',
      mode: 'append',
      rows_read: 2500,
      rows_written: 2500,
      chunks: 3,
    })
    const [row] = await sql('select count(*)::int as n from (table t_from except table t_to) x')
    expect(row).toEqual({ n: 0 })
  })

  it('goes on however many go on within one database', async () => {
    await sql('create table t_many (id int)')
    // As many as the pool has connections: each needs a second one while it holds its first.
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        transfer(
          fromPg(`select ${n} as id, pg_sleep(0.2)`),
          { table: 't_many' },
          { mapping: { id: 'id' }, timeout: 60 },
        ),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'success'))
    expect(await sql('select count(*)::int as n from t_many')).toEqual([{ n: 20 }])
  })

  it('appends, replaces or updates by key', async () => {
    await sql('create table t_mode (k int primary key, v text, kept text default $$kept$$)')
    await sql("insert into t_mode values (1, 'old'), (9, 'other')")
    const upsert = await transfer(fromPg("values (1, 'new'), (2, 'two')"), {
      table: 't_mode',
      mode: 'upsert',
      key: 'k',
      mapping: { k: 'column1', v: 'column2' },
    })
    expect(upsert.data).toMatchObject({ rows_written: 2 })
    expect(await sql('select k, v from t_mode order by k')).toEqual([
      { k: 1, v: 'new' },
      { k: 2, v: 'two' },
      { k: 9, v: 'other' },
    ])
    await transfer(fromPg("select 5 as k, 'only' as v"), { table: 't_mode', mode: 'replace' })
    expect(await sql('select k, v, kept from t_mode')).toEqual([{ k: 5, v: 'only', kept: 'kept' }])
  })

  it('writes all or nothing', async () => {
    await sql('create table t_whole (k int primary key)')
    const { error } = await transfer(fromPg('select g % 1500 as k from generate_series(1, 3000) g'), {
      table: 't_whole',
    })
    expect(error).toMatchObject({ kind: 'db_constraint', pg_code: '23505' })
    expect(await sql('select count(*)::int as n from t_whole')).toEqual([{ n: 0 }])
  })

  it('of nothing is nothing, and names stay names', async () => {
    await sql('create schema "Odd ""one"""')
    await sql('create table "Odd ""one"""."T 1" ("K ""x""" int)')
    const table = '"Odd ""one"""."T 1"'
    expect((await transfer(fromPg('select 1 as "K ""x""" where false'), { table })).data).toMatchObject({
      rows_read: 0,
      chunks: 0,
    })
    expect((await transfer(fromPg('select 1 as "K ""x"""'), { table })).data).toMatchObject({ rows_written: 1 })
    expect((await transfer(fromPg('select 1 as x'), { table: 't; drop table t_to' })).error?.['kind']).toMatch(/^db_/)
  })
})

describe('from an address', () => {
  it('maps fields to columns, lists to arrays, maps to JSON', async () => {
    await sql('create table t_posts (post_id int, user_id int8, title text, tags text[], meta jsonb)')
    const mapping = { post_id: 'id', user_id: 'userId', title: 'title', tags: 'tags', meta: 'meta' }
    const { data } = await transfer(
      { type: 'http', url: server.url('/') },
      { type: 'postgres', table: 't_posts', mapping },
    )
    expect(data).toMatchObject({ rows_read: 2, rows_written: 2, chunks: 1 })
    expect(await sql('select post_id, title, tags, meta from t_posts order by 1')).toEqual([
      { post_id: 10, title: posts[0]?.title, tags: '{a,"b c"}', meta: { deep: [1] } },
      { post_id: 11, title: null, tags: '{}', meta: 'text' },
    ])
  })

  it('takes equal names without a mapping, from where the list stands', async () => {
    await sql('create table t_equal (id int, body text)')
    const { data } = await transfer(
      { kind: 'http', url: server.url('/nested'), data_path: 'result.items' },
      { table: 't_equal' },
    )
    expect(data).toMatchObject({ rows_written: 2 })
    expect((await transfer({ kind: 'http', url: server.url('/map') }, { table: 't_equal' })).error).toMatchObject({
      kind: 'schema',
    })
  })
})

it('refuses what it does not understand', async () => {
  for (const [source, target, more] of [
    [{ kind: 'snowflake' }, { table: 't_to' }, {}],
    [fromPg('select 1'), {}, {}],
    [fromPg('select 1; select 2'), { table: 't_to' }, {}],
    [fromPg('select 1 as nowhere'), { table: 't_to' }, {}],
    [fromPg('select 1 as id'), { table: 't_to', mode: 'upsert' }, {}],
    [fromPg('select 1 as id'), { table: 't_to', mode: 'guess' }, {}],
    [fromPg('select 1 as id'), { table: 't_to' }, { chunk_size: 0 }],
  ] as [JsonObject, JsonObject, JsonObject][]) {
    const { error } = await transfer(source, target, more)
    expect(error?.['kind'], JSON.stringify([source, target, more])).toMatch(/config|unsupported/)
  }
})
