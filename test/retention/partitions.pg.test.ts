// Promise: the event table has partitions for the current month and those ahead, whoever makes them and
// however many at once; what others brought, and rows that are in the way, are respected and reported.
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Databases } from '../../src/db/databases.js'
import { monthPartitions } from '../../src/domain/retention/eventPartition.js'
import { systemClock } from '../../src/runtime/clock.js'
import { partitionFindings } from '../../src/services/retention/partitionDoctor.js'
import { createPartitionLoop, ensurePartitions } from '../../src/services/retention/partitions.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openTestDatabases } from '../support/topology.js'
import { until } from '../support/until.js'

let database: TestDatabase
let databases: Databases
const months = monthPartitions(Date.now(), 3)
const names = months.map((month) => month.name)

beforeEach(async () => {
  database = await cloneDatabase(inject('servers'))
  databases = openTestDatabases(database.url)
})
afterEach(async () => {
  await databases.close(1_000)
  await database.drop()
})

async function partitions(): Promise<string[]> {
  const rows = await database.sql<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'noetl.event'::regclass order by 1`,
  )
  return rows.map((row) => row.name)
}

describe('ensurePartitions', () => {
  it('makes the current month and three ahead, and then has nothing to do', async () => {
    const [first] = await ensurePartitions(databases, 3)
    expect(first).toMatchObject({ created: names, skipped: [], error: undefined })
    expect(await partitions()).toEqual(['event_default', ...names].sort())
    const [second] = await ensurePartitions(databases, 3)
    expect(second).toMatchObject({ created: [], skipped: [], error: undefined })
  })

  it('rows land in the partition of their month, with the indexes of the parent', async () => {
    await ensurePartitions(databases, 1)
    const id = await plantExecution(database, { atMs: Date.now() })
    const [row] = await database.sql<{ partition: string }>(
      'select c.relname as partition from noetl.event e join pg_class c on c.oid = e.tableoid where execution_id = $1::bigint limit 1',
      [id],
    )
    expect(row!.partition).toBe(names[0])
    const indexes = await database.sql(
      `select 1 from pg_index x join pg_class c on c.oid = x.indrelid where c.relname = $1::text`,
      [names[0]!],
    )
    const parent = await database.sql(`select 1 from pg_index where indrelid = 'noetl.event'::regclass`)
    expect(indexes).toHaveLength(parent.length)
  })

  it('two at once make each partition once', async () => {
    const other = openTestDatabases(database.url)
    const reports = (await Promise.all([ensurePartitions(databases, 6), ensurePartitions(other, 6)])).flat()
    await other.close(1_000)
    expect(reports.map((report) => report.error)).toEqual([undefined, undefined])
    expect(reports.flatMap((report) => report.created).sort()).toEqual(
      monthPartitions(Date.now(), 6)
        .map((month) => month.name)
        .sort(),
    )
  })

  it('leaves ranges alone that an adopted database brought', async () => {
    // A quarter-like partition over this month and the next, and one over half of the month after.
    const half = months[2]!.from + (months[2]!.to - months[2]!.from) / 2n
    await database.sql(
      `create table noetl.event_2026_q4 partition of noetl.event for values from ('${months[0]!.from}') to ('${months[1]!.to}')`,
    )
    await database.sql(
      `create table noetl.event_half partition of noetl.event for values from ('${months[2]!.from}') to ('${half}')`,
    )
    const [report] = await ensurePartitions(databases, 3)
    expect(report).toMatchObject({
      created: [names[3]],
      skipped: [
        { name: names[0], reason: 'covered' },
        { name: names[1], reason: 'covered' },
        { name: names[2], reason: 'overlaps' },
      ],
      error: undefined,
    })
  })

  it('does not touch a range of which the default partition holds rows', async () => {
    const id = await plantExecution(database, { atMs: Date.now() })
    const [report] = await ensurePartitions(databases, 1)
    expect(report).toMatchObject({ created: [names[1]], skipped: [{ name: names[0], reason: 'default_rows' }] })
    expect(await database.sql('select 1 from noetl.event where execution_id = $1::bigint', [id])).toHaveLength(2)
  })

  it('gives up soon when the table is held, and reports it', async () => {
    const holder = openTestDatabases(database.url)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = holder.cluster.db.tx(async (tx) => {
      await tx.run({ name: 'lock', text: 'lock table noetl.event in access exclusive mode' })
      await released
    })
    await until('the lock is held', async () => {
      const rows = await database.sql(
        `select 1 from pg_locks where relation = 'noetl.event'::regclass and mode = 'AccessExclusiveLock' and granted`,
      )
      return rows.length > 0
    })
    const started = performance.now()
    const [report] = await ensurePartitions(databases, 0)
    expect(report!.error?.code).toBe('timeout')
    expect(performance.now() - started).toBeLessThan(60_000)
    release()
    await held
    await holder.close(1_000)
  })
})

describe('the loop', () => {
  it('works at its start, and a dead shard does not keep the others without', async () => {
    const two = openTestDatabases(database.url, 'postgres://nobody@127.0.0.1:1/none')
    const errors: string[] = []
    const loop = createPartitionLoop({
      databases: two,
      clock: systemClock,
      random: Math.random,
      ahead: 1,
      onReport: () => undefined,
      onError: (error) => errors.push(error.code),
    })
    await loop.start()
    await until('the living shard has its partitions', async () => (await partitions()).length === 3)
    await until('the dead one is reported', () => errors.includes('unavailable'))
    await loop.stop(1_000)
    await two.close(1_000)
  })
})

describe('doctor', () => {
  it('names a missing month and rows in the default partition, and is content otherwise', async () => {
    const shard = databases.shards[0]!
    const before = await partitionFindings(shard)
    expect(before.map((finding) => finding.finding).join()).toMatch(/no partition for y\d{4}m\d\d and y\d{4}m\d\d/)
    await ensurePartitions(databases, 3)
    expect(await partitionFindings(shard)).toEqual([])
    const id = await plantExecution(database, { atMs: Date.now(), executionId: 42n })
    const after = await partitionFindings(shard)
    expect(after).toHaveLength(1)
    expect(after[0]!.finding).toContain(`execution ${id}`)
  })

  it('has nothing to say about a database without schema', async () => {
    const empty = await cloneDatabase(inject('servers'), { empty: true })
    const opened = openTestDatabases(empty.url)
    expect(await partitionFindings(opened.shards[0]!)).toEqual([])
    await opened.close(1_000)
    await empty.drop()
  })
})
