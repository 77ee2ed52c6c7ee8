// Promise: kind duckdb works where its package is installed, keeps the tables of an execution, reaches nothing but its own
// database, and ends in time; elsewhere it says what to install.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { loadDuckdb } from '../../src/tools/duckdb/duckdbPackage.js'
import { useTools } from '../support/toolRunner.js'

const tools = useTools()
const duckdb = (config: JsonObject, execution = '1') =>
  tools.tool({ kind: 'duckdb', ...config }, { meta: { execution_id: execution } })
const isInstalled = loadDuckdb() !== undefined

describe.skipIf(isInstalled)('without the package', () => {
  it('says what to install', async () => {
    expect((await duckdb({ query: 'select 1' })).error).toMatchObject({
      kind: 'unsupported',
      message: expect.stringContaining('npm install @duckdb/node-api'),
    })
  })
})

describe.runIf(isInstalled)('with the package', () => {
  it('runs statements and gives exact values', async () => {
    const command = `create table t (i bigint, h hugeint, d decimal(10,2), s varchar, l int[], b boolean, ts timestamptz, n int);
      -- a remark; here
      insert into t values (9223372036854775807, 170141183460469231731687303715884105727, 1.50, 'a;b', [1, 2], true, '2026-01-02 03:04:05+00', null);
      select * from t`
    const { data, error } = await duckdb({ command })
    expect(error).toBeUndefined()
    expect(data).toMatchObject({
      columns: ['i', 'h', 'd', 's', 'l', 'b', 'ts', 'n'],
      row_count: 1,
      rows: [
        {
          i: 9223372036854775807n,
          h: 170141183460469231731687303715884105727n,
          d: '1.50',
          s: 'a;b',
          l: [1, 2],
          b: true,
          n: null,
        },
      ],
      command_1: { affected_rows: 1 },
    })
  })

  it('keeps the tables of an execution in memory, and shows them to no other', async () => {
    await duckdb({ command: 'create table kept as select 1 as a' }, '2')
    expect((await duckdb({ query: 'select * from kept' }, '2')).data).toMatchObject({ rows: [{ a: 1 }] })
    expect((await duckdb({ query: 'select * from kept' }, '3')).error).toMatchObject({ kind: 'db_error' })
  })

  it('keeps files in its folder, and shares them', async () => {
    await duckdb({ database: 'db/own.duckdb', command: 'create table f (a int); insert into f values (5)' })
    const many = await Promise.all(
      Array.from({ length: 5 }, () => duckdb({ database: 'db/own.duckdb', query: 'select a from f' }, '9')),
    )
    expect(many.map(({ data }) => (data as JsonObject)['rows'])).toEqual(Array.from({ length: 5 }, () => [{ a: 5 }]))
    expect((await duckdb({ database: '../outside.duckdb', query: 'select 1' })).error).toMatchObject({ kind: 'config' })
  })

  it.each([
    "select * from read_csv('/etc/passwd')",
    "copy (select 1) to '/tmp/noetl-duckdb-out.csv'",
    "attach '/tmp/other.duckdb'",
    'install httpfs',
    'set enable_external_access = true',
  ])('refuses %s', async (query) => {
    expect((await duckdb({ query })).error).toMatchObject({ kind: 'db_error' })
  })

  it('ends what takes too long, and what is too large', async () => {
    const slow = 'select count(*) from range(100000000) a, range(100000) b where a.range % 7 = b.range % 11'
    expect((await duckdb({ query: slow, timeout: 0.5 })).status).toBe('timeout')
    expect((await duckdb({ query: 'select * from range(300000)' })).error).toMatchObject({ kind: 'schema' })
    expect((await duckdb({ query: 'select 1 as a' })).data).toMatchObject({ rows: [{ a: 1 }] })
  })
})
