// Promise: retention forgets what ended before the cutoff and nothing else. A partition goes as a whole or
// stays with its reason; rows of the default partition go one execution at a time; the read model follows.
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Databases } from '../../src/db/databases.js'
import { type MonthPartition, monthPartitions } from '../../src/domain/retention/eventPartition.js'
import { ensurePartitions } from '../../src/services/retention/partitions.js'
import { purge } from '../../src/services/retention/purge.js'
import { applyRetention } from '../../src/services/retention/retention.js'
import type { RetentionReport } from '../../src/services/retention/retentionPass.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openTestDatabases } from '../support/topology.js'

const DAY_MS = 86_400_000
const OLD_MS = Date.now() - 200 * DAY_MS
const old = monthPartitions(OLD_MS, 0)[0]!

let database: TestDatabase
let databases: Databases

beforeEach(async () => {
  database = await cloneDatabase(inject('servers'))
  databases = openTestDatabases(database.url)
})
afterEach(async () => {
  await databases.close(1_000)
  await database.drop()
})

async function attach(partition: MonthPartition): Promise<void> {
  await database.sql(
    `create table noetl.${partition.name} partition of noetl.event for values from ('${partition.from}') to ('${partition.to}')`,
  )
}

async function apply(options: { days?: number; dryRun?: boolean } = {}): Promise<RetentionReport> {
  const request = { olderThanMs: (options.days ?? 90) * DAY_MS, dryRun: options.dryRun ?? false }
  const [report] = await applyRetention(databases, request)
  expect(report!.error).toBeUndefined()
  return report!
}

async function count(table: string, id: string): Promise<number> {
  return (await database.sql(`select 1 from noetl.${table} where execution_id = $1::bigint`, [id])).length
}

async function exists(partition: string): Promise<boolean> {
  return (await database.sql('select 1 from pg_class where relname = $1::text', [partition])).length === 1
}

describe('a partition', () => {
  it('of ended executions is dropped, and the rows that hang on them go too', async () => {
    await attach(old)
    const gone = await plantExecution(database, { atMs: OLD_MS, outbox: 'PUBLISHED' })
    const kept = await plantExecution(database, { atMs: Date.now() })
    for (const id of [gone, kept]) {
      for (const aggregate of [id, `execution/${id}/all`])
        await database.sql(
          `insert into noetl.projection_snapshot (aggregate_id, aggregate_type, version, snapshot, checksum) values ($1::text, 't', 1, '{}', 'x')`,
          [aggregate],
        )
      await database.sql(
        `insert into noetl.projection (projection_id, projection_type, execution_id, version, state, checksum) values ($1::text, 't', $2::bigint, 1, '{}', 'x')`,
        [`p${id}`, id],
      )
      await database.sql(
        `insert into noetl.subscription_dedup (subscription_id, dedup_key, execution_id, expires_at) values (0, $1::text, $2::bigint, now() - interval '1 day')`,
        [`k${id}`, id],
      )
      await database.sql(
        `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name) values ($1::bigint, $1::bigint, $1::bigint, 1, 's')`,
        [id],
      )
      await database.sql(
        'insert into noetl.child (parent_execution_id, command_id, child_execution_id) values ($1::bigint, $1::bigint, 1)',
        [id],
      )
      await database.sql(
        `insert into noetl.stored_result (execution_id, result_id, name, scope, data, bytes, sha256) values ($1::bigint, 1, 'r', 'execution', '', 0, '')`,
        [id],
      )
    }
    const report = await apply()
    expect(report.dropped).toEqual([{ name: old.name, events: '2', executions: '1' }])
    expect(report).toMatchObject({
      kept: [],
      executionsDeleted: 1,
      snapshotsDeleted: 2,
      projectionsDeleted: 1,
      dedupRecordsDeleted: 1,
    })
    expect(await exists(old.name)).toBe(false)
    expect([await count('event', gone), await count('execution', gone)]).toEqual([0, 0])
    expect([await count('event', kept), await count('execution', kept)]).toEqual([2, 1])
    expect(await database.sql('select 1 from noetl.projection_snapshot')).toHaveLength(2)
    expect(await count('projection', kept)).toBe(1)
    expect(await count('subscription_dedup', kept)).toBe(1)
    for (const table of ['command', 'stored_result']) {
      expect([await count(table, gone), await count(table, kept)]).toEqual([0, 1])
    }
    expect(await database.sql('select parent_execution_id::text from noetl.child')).toEqual([
      { parent_execution_id: kept },
    ])
  })

  it('says in a dry run what would go, and changes nothing', async () => {
    await attach(old)
    const id = await plantExecution(database, { atMs: OLD_MS })
    const report = await apply({ dryRun: true })
    expect(report).toMatchObject({ dropped: [{ name: old.name, events: '2' }], executionsDeleted: 1 })
    expect([await count('event', id), await count('execution', id)]).toEqual([2, 1])
  })

  it.each([
    ['an execution that has not ended', { status: 'RUNNING' as const }, 'running'],
    ['an execution nobody knows the state of', { status: 'UNKNOWN' as const }, 'running'],
    ['an outbox row that waits', { outbox: 'PENDING' }, 'unpublished'],
    ['an outbox row in flight', { outbox: 'IN_FLIGHT' }, 'unpublished'],
    ['events the read model does not know', { foreign: true }, 'unknown'],
  ])('stays because of %s', async (_, planted, reason) => {
    await attach(old)
    await plantExecution(database, { atMs: OLD_MS })
    const holder = await plantExecution(database, { atMs: OLD_MS, ...planted })
    const report = await apply()
    expect(report.dropped).toEqual([])
    expect(report.kept).toMatchObject([{ name: old.name, reason }])
    expect(report.executionsDeleted).toBe(0)
    expect(await count('event', holder)).toBe(2)
  })

  it('stays because of one late event', async () => {
    await attach(old)
    const id = await plantExecution(database, { atMs: OLD_MS })
    await database.sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, stream_version) values ($1::bigint, 99, 1, 'late', 3)`,
      [id],
    )
    expect((await apply()).kept).toMatchObject([{ name: old.name, reason: 'recent' }])
    expect(await count('event', id)).toBe(3)
  })

  it('that ends after the cutoff is not even looked at, nor are the months ahead', async () => {
    await ensurePartitions(databases, 3)
    const id = await plantExecution(database, { atMs: Date.now() })
    const report = await apply({ days: 1 })
    expect(report).toMatchObject({ dropped: [], kept: [], executionsDeleted: 0 })
    expect(await count('event', id)).toBe(2)
    expect(await database.sql(`select 1 from pg_inherits where inhparent = 'noetl.event'::regclass`)).toHaveLength(5)
  })

  it('of the predecessor is dropped under its own name, also one of the database function ids', async () => {
    const epoch = 1_704_067_200_000
    const databaseId = (ms: number) => BigInt(ms - epoch) << 23n
    await database.sql(
      `create table noetl.event_2026_q1_standard partition of noetl.event for values from ('${databaseId(OLD_MS - 5 * DAY_MS)}') to ('${databaseId(OLD_MS + 5 * DAY_MS)}')`,
    )
    const id = await plantExecution(database, { atMs: OLD_MS, executionId: databaseId(OLD_MS) + 262_144n })
    expect((await apply()).dropped).toMatchObject([{ name: 'event_2026_q1_standard' }])
    expect([await count('event', id), await count('execution', id)]).toEqual([0, 0])
  })

  it('with an unusual name is left to its owner', async () => {
    await database.sql(
      `create table noetl."Event Old" partition of noetl.event for values from ('${old.from}') to ('${old.to}')`,
    )
    await plantExecution(database, { atMs: OLD_MS })
    expect((await apply()).kept).toMatchObject([{ name: 'Event Old', reason: 'by_hand' }])
  })

  it('that somebody reads at this moment stays for the next run', async () => {
    await attach(old)
    await plantExecution(database, { atMs: OLD_MS })
    const reader = openTestDatabases(database.url)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let reading: () => void = () => undefined
    const isReading = new Promise<void>((resolve) => {
      reading = resolve
    })
    const read = reader.cluster.db.tx(async (tx) => {
      await tx.run({ name: 'read', text: `select count(*) from noetl.${old.name}` })
      reading()
      await released
    })
    await isReading
    expect((await apply()).kept).toMatchObject([{ name: old.name, reason: 'busy' }])
    release()
    await read
    await reader.close(1_000)
    expect((await apply()).dropped).toHaveLength(1)
  })
})

describe('the default partition', () => {
  it('loses its old executions and keeps the others', async () => {
    const gone = await plantExecution(database, { atMs: OLD_MS, events: 12_000 })
    const small = await plantExecution(database, { atMs: OLD_MS, status: 'FAILED' })
    const running = await plantExecution(database, { atMs: OLD_MS, status: 'RUNNING' })
    const waiting = await plantExecution(database, { atMs: OLD_MS, outbox: 'FAILED' })
    const foreign = await plantExecution(database, { atMs: OLD_MS, foreign: true })
    const fresh = await plantExecution(database, { atMs: Date.now() })
    const dry = await apply({ dryRun: true })
    expect(dry).toMatchObject({ defaultEventsDeleted: 12_002, executionsDeleted: 2 })
    const report = await apply()
    expect(report).toMatchObject({
      defaultEventsDeleted: 12_002,
      executionsDeleted: 2,
      defaultExecutionsKept: { running: 1, unpublished: 1, unknown: 1, recent: 0 },
    })
    for (const id of [gone, small]) expect([await count('event', id), await count('execution', id)]).toEqual([0, 0])
    for (const id of [running, waiting, foreign, fresh]) expect(await count('event', id)).toBe(2)
  })

  it('walks on beyond one page of executions', async () => {
    await database.sql(
      `insert into noetl.execution (execution_id, catalog_id, status, end_time, updated_at)
       select n, 1, 'COMPLETED', now() - interval '200 days', now() - interval '200 days' from generate_series(1, 450) n`,
    )
    await database.sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, created_at, stream_version)
       select n, 1, 1, now() - interval '200 days', 1 from generate_series(1, 450) n`,
    )
    expect(await apply()).toMatchObject({ defaultEventsDeleted: 450, executionsDeleted: 450 })
  })

  it('a run that was cut off between read model and events is completed by the next', async () => {
    const id = await plantExecution(database, { atMs: OLD_MS })
    await database.sql('delete from noetl.execution where execution_id = $1::bigint', [id])
    expect(await apply()).toMatchObject({ defaultEventsDeleted: 2 })
    expect(await count('event', id)).toBe(0)
  })
})

it('read-model rows left behind by a run that was cut off are found', async () => {
  const id = await plantExecution(database, { atMs: OLD_MS, events: 0 })
  expect(await apply()).toMatchObject({ executionsDeleted: 1 })
  expect(await count('execution', id)).toBe(0)
})

it('a dedup record whose time is not over goes on refusing', async () => {
  const id = await plantExecution(database, { atMs: OLD_MS })
  await database.sql(
    `insert into noetl.subscription_dedup (subscription_id, dedup_key, execution_id, expires_at) values (0, 'k', $1::bigint, now() + interval '1 day')`,
    [id],
  )
  expect(await apply()).toMatchObject({ executionsDeleted: 1, dedupRecordsDeleted: 0 })
  expect(await count('subscription_dedup', id)).toBe(1)
})

it('a dead shard is reported and the living one is done', async () => {
  const two = openTestDatabases(database.url, 'postgres://nobody@127.0.0.1:1/none')
  await plantExecution(database, { atMs: OLD_MS })
  const reports = await applyRetention(two, { olderThanMs: 90 * DAY_MS, dryRun: false })
  await two.close(1_000)
  expect(reports.map((report) => report.error?.code)).toEqual([undefined, 'unavailable'])
  expect(reports[0]!.defaultEventsDeleted).toBe(2)
})

describe('purge', () => {
  const request = { commandRetentionDays: 7, runtimeStaleMinutes: 60, eventRetentionDays: 0 }

  beforeEach(async () => {
    for (const [id, ended] of [
      [1, '8 days'],
      [2, '6 days'],
    ] as const)
      await database.sql(
        `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, completed_at) values ($1::int, 1, $1::int, 1, 's', now() - $2::text::interval)`,
        [id, ended],
      )
    await database.sql(
      `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name) values (3, 1, 3, 1, 's')`,
    )
    for (const [id, beat] of [
      [1, '61 minutes'],
      [2, '59 minutes'],
    ] as const)
      await database.sql(
        `insert into noetl.runtime (runtime_id, name, kind, status, heartbeat) values ($1::int, $1::text, 'worker_pool', 'ready', now() - $2::text::interval)`,
        [id, beat],
      )
  })

  it('deletes finished commands and silent runtimes, and no events unless asked', async () => {
    const id = await plantExecution(database, { atMs: OLD_MS })
    expect(await purge({ databases }, request)).toEqual({
      commands: 1,
      runtimes: 1,
      events: 0n,
      partitionsDropped: [],
      failures: [],
    })
    expect(await count('event', id)).toBe(2)
  })

  it('0 leaves a table alone; events go when asked', async () => {
    await attach(old)
    await plantExecution(database, { atMs: OLD_MS })
    const purged = await purge(
      { databases },
      { commandRetentionDays: 0, runtimeStaleMinutes: 0, eventRetentionDays: 90 },
    )
    expect(purged).toMatchObject({ commands: 0, runtimes: 0, events: 2n, partitionsDropped: [old.name] })
    expect(await database.sql('select 1 from noetl.command')).toHaveLength(3)
  })
})
