// Promise: kind postgres runs statements as playbooks write them, in one transaction, gives exact values, tells errors by
// SQLSTATE, ends in time on both sides, and hands no state from one command to the next.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Float, type JsonObject, type JsonValue } from '../../src/domain/json/value.js'
import { useDatabase } from '../support/database.js'
import { freePort } from '../support/freePort.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const database = useDatabase({ empty: true })
const tools = useTools(
  {},
  {
    credentials: {
      find: async (name) => {
        const url = new URL(database.get().url)
        const fields = {
          db_host: url.hostname,
          db_port: url.port,
          db_user: decodeURIComponent(url.username),
          db_password: decodeURIComponent(url.password),
          db_name: url.pathname.slice(1),
        }
        if (name === 'pg') return { name, type: 'postgres', data: fields }
        if (name === 'wrong') return { name, type: 'postgres', data: { ...fields, db_password: 'not-the-password' } }
        return undefined
      },
    },
  },
)

const postgres = (config: JsonObject) => tools.tool({ kind: 'postgres', auth: 'pg', ...config })

async function data(query: JsonValue, more: JsonObject = {}): Promise<JsonObject> {
  const envelope = await postgres({ query, ...more })
  expect(envelope.error, String(query)).toBeUndefined()
  return envelope.data as JsonObject
}

async function value(expression: string, more: JsonObject = {}): Promise<JsonValue> {
  const { rows } = await data(`select (select ${expression}) as v`, more)
  return ((rows as JsonObject[])[0] as JsonObject)['v'] as JsonValue
}

describe('a statement', () => {
  it('with rows gives columns, rows as maps and their number', async () => {
    const part = { command: 'SELECT', columns: ['a', 'b'], rows: [{ a: 1, b: 'x' }], row_count: 1 }
    expect(await data("select 1 as a, 'x' as b")).toEqual({ ...part, command_0: part })
    expect((await data('select 1 as a, 2 as b', { as_objects: false }))['rows']).toEqual([[1, 2]])
    expect(await data('select 1 as a where false')).toMatchObject({ columns: ['a'], rows: [], row_count: 0 })
  })

  it('without rows gives how many it changed, by what the server says', async () => {
    await data('create table t_kind (id int primary key, v text)')
    expect(await data("insert into t_kind values (1, 'a'), (2, 'b')")).toMatchObject({
      command: 'INSERT',
      affected_rows: 2,
      row_count: 0,
    })
    const update = "with x as (select 1 as id) update t_kind set v = 'c' from x where t_kind.id = x.id"
    expect(await data(update)).toMatchObject({ command: 'UPDATE', affected_rows: 1 })
    expect(await data(`${update} returning v`)).toMatchObject({ affected_rows: 1, rows: [{ v: 'c' }] })
    expect(await data('-- only a remark\ndelete from t_kind; -- and another')).toMatchObject({
      command: 'DELETE',
      affected_rows: 2,
    })
  })

  it('takes params: texts, numbers, maps and lists as what the server wants', async () => {
    const params: JsonValue[] = [
      9007199254740993n,
      'text',
      true,
      { a: [1] },
      [1, 2],
      ['x', 'y "z"'],
      null,
      '2026-01-02',
      [{ a: 1 }],
    ]
    const query = `select $1::int8 as big, $2::text as t, $3::bool as b, $4::jsonb as j, $5::int[] as ints, $6::text[] as texts,
      $7::int as n, $8::date as d, $9::jsonb as list`
    expect((await data(query, { params }))['rows']).toEqual([
      {
        big: 9007199254740993n,
        t: 'text',
        b: true,
        j: { a: [1] },
        ints: [1, 2],
        texts: ['x', 'y "z"'],
        n: null,
        d: '2026-01-02',
        list: [{ a: 1 }],
      },
    ])
    expect((await data('select $1::bool as a, $2::bool as b', { params: ['true', 'f'] }))['rows']).toEqual([
      { a: true, b: false },
    ])
    expect((await postgres({ commands: ['select $1', 'select 2'], params: [1] })).error).toMatchObject({
      kind: 'config',
    })
  })
})

describe('values', () => {
  it.each<[string, JsonValue]>([
    ['9223372036854775807::int8', 9223372036854775807n],
    ['(-5)::int2', -5],
    ['1.0::float8', new Float(1)],
    ['0.1::float8', 0.1],
    ["'NaN'::float8", 'NaN'],
    ['42::numeric', 42],
    ['9007199254740993::numeric', '9007199254740993'],
    ['1.50::numeric', '1.50'],
    ['true', true],
    ['null', null],
    [`'{"a": [1, 9007199254740993]}'::jsonb`, { a: [1, 9007199254740993n] }],
    [`'[1.0]'::json`, [new Float(1)]],
    ["'2026-01-02 03:04:05.123456+02'::timestamptz", '2026-01-02T01:04:05.123456+00:00'],
    ["'infinity'::timestamptz", 'infinity'],
    ["'2026-01-02 03:04:05'::timestamp", '2026-01-02T03:04:05'],
    ["'2026-01-02'::date", '2026-01-02'],
    ["'03:04:05'::time", '03:04:05'],
    ["'\\x00ff10'::bytea", 'AP8Q'],
    ["'{1,NULL,3}'::int8[]", [1, null, 3]],
    [`array['a "b"', 'c,d', 'NULL', '{}', 'back\\slash']`, ['a "b"', 'c,d', 'NULL', '{}', 'back\\slash']],
    [
      "'{{1,2},{3,4}}'::int[]",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["'{}'::text[]", []],
    ["'[0:1]={5,6}'::int[]", [5, 6]],
    [`array['{"a": 1}'::jsonb]`, [{ a: 1 }]],
    ["'6ccd780c-baba-1026-9564-5b8c656024db'::uuid", '6ccd780c-baba-1026-9564-5b8c656024db'],
    ["'1 day'::interval", '1 day'],
    ["repeat('ä€', 3)", 'ä€ä€ä€'],
  ])('%s', async (expression, expected) => {
    expect(await value(expression)).toEqual(expected)
  })

  it('of types of the database itself are texts, their arrays lists', async () => {
    await data("create type t_mood as enum ('sad', 'happy'); create domain t_count as int")
    expect(await value("'sad'::t_mood")).toBe('sad')
    expect(await value("'{sad,happy}'::t_mood[]")).toEqual(['sad', 'happy'])
    expect(await value('5::t_count')).toBe(5)
  })

  it('of numeric are numbers when their author wants that', async () => {
    expect(await value('1.5::numeric', { numeric: 'number' })).toBe(1.5)
  })
})

describe('several statements', () => {
  it('are taken apart outside of quotes, dollar quotes and comments', async () => {
    const text = `
      -- a remark; with a semicolon
      create table t_split (v text);
      /* another; /* inside */ ; */
      insert into t_split values ('a;b'), (E'c\\';d'), ('it''s; fine');
      do $$ begin insert into t_split values ('in; a block'); end $$;
      create function t_split_count() returns bigint language sql as $body$ select count(*) from t_split; $body$;
      select count(*) as n, t_split_count() as f, min(v) as ";" from t_split;
      -- nothing follows;
    `
    const result = await data(text)
    expect(result).toMatchObject({
      rows: [{ n: 4, f: 4, ';': 'a;b' }],
      command_0: { command: 'CREATE TABLE' },
      command_1: { affected_rows: 3 },
    })
    expect(Object.keys(result).filter((key) => key.startsWith('command_'))).toHaveLength(5)
  })

  it('are one transaction, unless their author wants otherwise', async () => {
    await data('create table t_tx (id int primary key)')
    const texts = ['insert into t_tx values (1)', 'insert into t_tx values (1)']
    const failed = await postgres({ commands: texts })
    expect(failed.error).toMatchObject({
      kind: 'db_constraint',
      message: expect.stringMatching(/^statement 2 of 2: duplicate key/),
    })
    expect(await value('count(*) from t_tx')).toBe(0)
    await postgres({ command: texts.join(';'), autocommit: true })
    expect(await value('count(*) from t_tx')).toBe(1)
    await data('begin; insert into t_tx values (2); rollback; insert into t_tx values (3)')
    expect(await value('array_agg(id order by id) from t_tx')).toEqual([1, 3])
    await data('vacuum t_tx')
  })

  it('may come from a file of the data folder', async () => {
    await writeFile(join(tools.folder, 'make.sql'), 'create table t_file (id int);\ninsert into t_file values (7);\n')
    const script = { uri: './make.sql', source: { type: 'file' } }
    expect((await tools.tool({ kind: 'postgres', auth: 'pg', script })).data).toMatchObject({ affected_rows: 1 })
  })

  it('find their schema', async () => {
    await data('create schema t_schema; create table t_schema.here (id int)')
    expect(await data('select * from here', { schema: 't_schema' })).toMatchObject({ row_count: 0 })
    expect((await postgres({ query: 'select 1', schema: 'x"; drop schema t_schema cascade; --' })).status).toBe(
      'success',
    )
    expect(await value("count(*) from pg_namespace where nspname = 't_schema'")).toBe(1)
  })
})

describe('errors', () => {
  it.each<[string, JsonObject]>([
    ['select * from nowhere', { kind: 'db_error', code: 'PG_42P01', pg_code: '42P01', retryable: false }],
    ['selec 1', { kind: 'db_error', pg_code: '42601' }],
    ['insert into t_errors values (null)', { kind: 'db_constraint', pg_code: '23502', retryable: false }],
    ["do $$ begin raise exception using errcode = '40001'; end $$", { kind: 'db_deadlock', retryable: true }],
    ["do $$ begin raise exception using errcode = '08006'; end $$", { kind: 'db_connection', retryable: true }],
    [
      "do $$ begin raise exception 'own words' using hint = 'do this'; end $$",
      { message: 'own words', details: { hint: 'do this', where: expect.any(String) } },
    ],
  ])('%s', async (query, expected) => {
    await data('create table if not exists t_errors (id int not null)')
    expect((await postgres({ query })).error).toMatchObject(expected)
  })

  it('of connections say so, and show no password', async () => {
    const wrong = await tools.tool({ kind: 'postgres', auth: 'wrong', query: 'select 1' })
    expect(wrong.status).toBe('error')
    expect(JSON.stringify(wrong)).not.toContain('not-the-password')
    const connection = {
      host: '127.0.0.1',
      port: await freePort(),
      user: 'u',
      password: 'secret-of-mine',
      database: 'd',
    }
    const closed = await tools.tool({ kind: 'postgres', connection, query: 'select 1' })
    expect(closed.error).toMatchObject({ kind: 'db_connection', retryable: true })
    expect(JSON.stringify(closed)).not.toContain('secret-of-mine')
    expect((await tools.tool({ kind: 'postgres', auth: 'nobody', query: 'select 1' })).error).toMatchObject({
      kind: 'credential',
      message: 'credential "nobody" not found',
    })
    expect((await tools.tool({ kind: 'postgres', query: 'select 1' })).error).toMatchObject({ kind: 'credential' })
  })

  it('of what cannot be done here are told before anything is sent', async () => {
    expect((await postgres({ query: 'copy t_errors from stdin' })).error).toMatchObject({ kind: 'unsupported' })
    for (const query of ['', ' ; -- nothing', [1]])
      expect((await postgres({ query })).error).toMatchObject({ kind: 'config' })
  })

  it('of results that are too large cost the connection and nothing else', async () => {
    const { error } = await postgres({ query: "select repeat('x', 1000000) from generate_series(1, 100)" })
    expect(error).toMatchObject({ kind: 'schema', message: expect.stringContaining('67108864 bytes') })
    expect(await value('1')).toBe(1)
  })
})

describe('time', () => {
  const sleeping = "count(*) from pg_stat_activity where query like 'select pg_sleep(600%' and state = 'active'"

  it('ends a statement on both sides', async () => {
    const envelope = await postgres({ query: 'select pg_sleep(600)', timeout: 0.5 })
    expect(envelope.status === 'timeout' || envelope.error?.['kind'] === 'db_timeout').toBe(true)
    await until('the server has ended it, too', async () => (await value(sleeping)) === 0)
  })

  it('is not needed when the command is cancelled', async () => {
    const controller = new AbortController()
    const run = tools.tool(
      { kind: 'postgres', auth: 'pg', query: 'select pg_sleep(600.1)' },
      { options: { signal: controller.signal } },
    )
    await until('it runs', async () => (await value(sleeping)) === 1)
    controller.abort(new Error('cancelled'))
    expect((await run).status).toBe('error')
    await until('the server has ended it, too', async () => (await value(sleeping)) === 0)
  })

  it('of a server that does not answer is limited', async () => {
    const target = new URL(database.get().url)
    const proxy = await startTcpProxy(target.hostname, Number(target.port))
    try {
      proxy.setMode('blackhole')
      const connection = { host: '127.0.0.1', port: proxy.port, user: 'u', password: 'p', database: 'd' }
      const { error } = await tools.tool({ kind: 'postgres', connection, query: 'select 1', timeout: 1 })
      expect(error).toMatchObject({ retryable: true })
    } finally {
      await proxy.close()
    }
  })
})

describe('between commands', () => {
  it('nothing is handed on: settings, temporary tables, locks, open transactions', async () => {
    for (let round = 0; round < 5; round++) {
      await data("set application_name = 'left'; create temp table t_left (id int); select pg_advisory_lock(5)", {
        autocommit: true,
      })
      await data('begin; create table t_never_committed (id int)')
      expect(await value("current_setting('application_name')")).not.toBe('left')
      expect(await value("to_regclass('t_left')")).toBeNull()
      expect(await value("to_regclass('t_never_committed')")).toBeNull()
    }
    await until(
      'the lock is free',
      async () => (await value("count(*) from pg_locks where locktype = 'advisory'")) === 0,
    )
  })

  it('connections are shared, bounded and given back', async () => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, index) => value(`${index} + 0 * length(pg_sleep(0.01)::text)`)),
    )
    expect(results).toEqual(Array.from({ length: 60 }, (_, index) => index))
    expect(await value("count(*) from pg_stat_activity where application_name = 'noetl-cp step'")).toBeLessThanOrEqual(
      16,
    )
  })

  it('a connection that was killed is replaced', async () => {
    await value('1')
    await database
      .get()
      .sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'noetl-cp step'")
    await until('the next command works', async () => (await postgres({ query: 'select 1' })).status === 'success')
  })
})
