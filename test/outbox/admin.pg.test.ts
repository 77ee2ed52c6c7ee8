// Promise: an operator sees what waits and why, retries and redrives in bounded runs, and removes only what was
// published long ago.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LANES } from '../../src/domain/leases/lane.js'
import { type Cursor, cursorText, parseCursor } from '../../src/domain/outbox/cursor.js'
import { type Clock, systemClock } from '../../src/runtime/clock.js'
import { outboxCheck } from '../../src/services/health/checks.js'
import { outboxStatus, purgeOutbox, redriveDead, retryOutbox, showOutboxRow } from '../../src/services/outbox/admin.js'
import { type OutboxPage, pageOfDead, pageOfOutbox } from '../../src/services/outbox/pages.js'
import { createOutboxCounter, createOutboxUpkeep, type OutboxCounts } from '../../src/services/outbox/upkeep.js'
import { takeLeases } from '../../src/stores/leases/leaseStore.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../support/database.js'
import { countBy } from '../support/outboxRows.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { openTestDatabases } from '../support/topology.js'
import { until } from '../support/until.js'

const database = useDatabase()
let other: TestDatabase
let one: { databases: ReturnType<typeof openTestDatabases> }
let two: { databases: ReturnType<typeof openTestDatabases> }

beforeAll(async () => {
  other = await cloneDatabase(database.servers())
  one = { databases: openTestDatabases(database.get().url) }
  two = { databases: openTestDatabases(database.get().url, other.url) }
})
afterAll(async () => {
  await one.databases.close(1_000)
  await two.databases.close(1_000)
  await other.drop()
})
beforeEach(async () => {
  await database.get().sql('truncate noetl.outbox restart identity')
  await other.sql('truncate noetl.outbox restart identity')
  await database.get().sql(`update noetl.lease set owner = null, lease_until = '-infinity' where kind = 'outbox'`)
})

/** `count` rows of the status, each of its own execution; `extra` is one more column and its SQL: `published_at=now()`. */
const plant = (count: number, status: string, extra = 'attempts=0', on: TestDatabase = database.get()) => {
  const [column, ...value] = extra.split('=')
  return on.sql(
    `insert into noetl.outbox (execution_id, event_id, payload, status, ${column})
     select 1000 + first + n, first + n, '{"n": 1}', $1::text, ${value.join('=')}
     from generate_series(1, $2::int) n, (select coalesce(max(outbox_id), 0) as first from noetl.outbox) as f`,
    [status, count],
  )
}

describe('status', () => {
  it('tells ready from waiting, live from abandoned, and who holds the lanes', async () => {
    await plant(3, 'PENDING', `created_at=now() - interval '90 seconds'`)
    await plant(2, 'FAILED', `available_at=now() + interval '1 minute'`)
    await plant(1, 'FAILED')
    await plant(2, 'IN_FLIGHT', `lease_until=now() + interval '1 minute'`)
    await plant(4, 'IN_FLIGHT', `lease_until=now() - interval '1 second'`)
    await plant(5, 'DEAD')
    await plant(6, 'PUBLISHED', `published_at=now()`)
    await plant(7, 'PUBLISHED', `published_at=now() - interval '1 hour'`)
    await takeLeases(
      database.get().db,
      { kind: 'outbox', owner: 'host:1:aa', deadlineMs: 1_000 },
      { slots: LANES, limit: 10, leaseSeconds: 30 },
    )
    const [status] = await outboxStatus(one)
    expect(status).toMatchObject({
      label: 'postgres',
      backlog: {
        pending_ready: 3,
        pending_waiting: 0,
        failed_ready: 1,
        failed_waiting: 2,
        in_flight_live: 2,
        in_flight_expired: 4,
        capped: false,
      },
      dead: 5,
      published: { rows: 13, isEstimate: false },
      publishedLastMinute: 6,
      owners: [{ owner: 'host:1:aa', lanes: 10, live: true }],
    })
    expect(status!.oldestAgeSeconds).toBeGreaterThan(89)
  })

  it('estimates many published rows instead of counting them', async () => {
    await plant(15_000, 'PUBLISHED', `published_at=now()`)
    await database.get().sql('vacuum analyze noetl.outbox')
    const [status] = await outboxStatus(one)
    expect(status!.published).toEqual({ rows: 15_000, isEstimate: true })
  })

  it('names a shard that is away beside the others', async () => {
    const dead = new URL(other.url)
    dead.port = '1'
    const databases = openTestDatabases(database.get().url, dead.toString())
    try {
      const [first, second] = await outboxStatus({ databases })
      expect(first!.backlog).toBeDefined()
      expect(second!.error).toMatchObject({ code: 'unavailable' })
    } finally {
      await databases.close(1_000)
    }
  })
})

describe('list and show', () => {
  it('pages over statuses and shards without gap or repeat', async () => {
    await plant(5, 'PENDING')
    await plant(2, 'PUBLISHED')
    await plant(3, 'PENDING', 'attempts=0', other)
    const seen: string[] = []
    let cursor: { shard: number; after: string } | undefined
    do {
      const page = await pageOfOutbox(two, { limit: 2, cursor })
      seen.push(...page.rows.map((row) => `${row.shard}:${row.outbox_id}`))
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen).toEqual(['0:1', '0:2', '0:3', '0:4', '0:5', '1:1', '1:2', '1:3'])
    expect((await pageOfOutbox(one, { limit: 10, status: 'PUBLISHED' })).rows).toHaveLength(2)
    expect((await pageOfOutbox(one, { limit: 10, executionId: '1006' })).rows).toMatchObject([{ status: 'PUBLISHED' }])
  })

  it('answers with what the others have while a shard is away, names it, and misses nothing once it is back', async () => {
    await plant(3, 'DEAD')
    await plant(3, 'DEAD', 'attempts=0', other)
    const away = new URL(database.get().url)
    const proxy = await startTcpProxy(away.hostname, Number(away.port))
    away.port = String(proxy.port)
    const databases = openTestDatabases(away.toString(), other.url)
    const [dead, open] = [pageOfDead, pageOfOutbox].map(
      (read) => (cursor?: Cursor) =>
        read({ databases }, { limit: 2, cursor, ...(read === pageOfOutbox ? { status: 'DEAD' as const } : {}) }),
    )
    try {
      for (const read of [dead!, open!]) {
        const ids = (page: OutboxPage) => page.rows.map((row) => `${row.shard}:${row.outbox_id}`)
        proxy.setMode('refuse')
        const first = await read()
        expect([ids(first), first.failures]).toEqual([['1:1', '1:2'], [expect.objectContaining({ shard: 0 })]])
        const text = cursorText(first.next!, '-')
        expect(parseCursor(text, '-')).toEqual(first.next)
        const rest = await read(first.next)
        expect([ids(rest), rest.next, rest.failures.length]).toEqual([['1:3'], undefined, 1])

        proxy.setMode('pass')
        const seen: string[] = []
        for (let page = await read(first.next); ; page = await read(page.next)) {
          expect(page.failures).toEqual([])
          seen.push(...ids(page))
          if (page.next === undefined) break
        }
        expect(seen).toEqual(['0:1', '0:2', '0:3', '1:3'])
      }
      // Work is done to all that match or not begun; and with nobody there, nobody is named beside others.
      proxy.setMode('refuse')
      await expect(redriveDead({ databases }, { limit: 9, dryRun: true })).rejects.toMatchObject({
        code: 'unavailable',
      })
      await expect(pageOfDead({ databases }, { limit: 2, shard: 0 })).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      await databases.close(1_000)
      await proxy.close()
    }
  })

  it('shows one row, asks for the shard when two have it, and knows what is unknown', async () => {
    await plant(2, 'PENDING')
    await plant(1, 'PENDING', 'attempts=0', other)
    expect(await showOutboxRow(two, '2', undefined)).toMatchObject({ shard: 0, payload: { n: 1 } })
    await expect(showOutboxRow(two, '1', undefined)).rejects.toMatchObject({ code: 'refused' })
    expect(await showOutboxRow(two, '1', 1)).toMatchObject({ shard: 1 })
    await expect(showOutboxRow(two, '9', undefined)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('retry', () => {
  it('makes failed rows due, bounded and filtered, and leaves the rest', async () => {
    await plant(700, 'FAILED', `available_at=now() + interval '1 hour'`)
    await plant(3, 'PENDING', `available_at=now() + interval '1 hour'`)
    const due = async () =>
      (
        await database
          .get()
          .sql<{ n: number }>('select count(*)::int as n from noetl.outbox where available_at <= now()')
      )[0]!.n
    expect(await retryOutbox(one, { limit: 1_000, ids: ['1', '2', '702'] })).toBe(2)
    expect(await retryOutbox(one, { limit: 10, executionId: '1003' })).toBe(1)
    expect(await due()).toBe(3)
    expect(await retryOutbox(one, { limit: 600 })).toBe(600)
    expect(await retryOutbox(one, { limit: 600 })).toBe(97)
    expect(await due()).toBe(700)
  })
})

describe('dead rows', () => {
  beforeEach(async () => {
    await plant(600, 'DEAD', `last_error='larger than the server takes'`)
    await plant(5, 'DEAD', `last_error='Not Permitted'`)
    await database.get().sql('update noetl.outbox set attempts = 20')
  })

  it('are listed and redriven by reason, execution and time', async () => {
    expect((await pageOfDead(one, { limit: 100, reason: 'not perm' })).rows).toHaveLength(5)
    expect((await pageOfDead(one, { limit: 100, since: '2999-01-01T00:00:00.000000+00:00' })).rows).toEqual([])
    const dry = await redriveDead(one, { limit: 1_000, reason: 'not permitted', dryRun: true })
    expect(dry).toMatchObject({ matched: 5, done: 0, more: false })
    expect(dry.sample).toHaveLength(5)
    expect(await countBy(database.get())).toEqual({ DEAD: 605 })
    expect(await redriveDead(one, { limit: 1_000, reason: 'not permitted', dryRun: false })).toMatchObject({
      done: 5,
    })
    const [row] = (await pageOfOutbox(one, { limit: 1 })).rows
    expect(row).toMatchObject({ status: 'PENDING', attempts: 0 })
    expect(await redriveDead(one, { limit: 10, executionId: '1001', dryRun: false })).toMatchObject({ done: 1 })
  })

  it('come back in bounded pages, each once, also when they die again meanwhile', async () => {
    expect(await redriveDead(one, { limit: 550, dryRun: false })).toMatchObject({ done: 550, more: true })
    expect(await countBy(database.get())).toEqual({ PENDING: 550, DEAD: 55 })
    // A row that dies the moment it comes back must not be taken for ever.
    await database
      .get()
      .sql(
        `create function noetl.die_again() returns trigger language plpgsql as 'begin new.status := ''DEAD''; return new; end'`,
      )
    await database
      .get()
      .sql(
        `create trigger die_again before update on noetl.outbox for each row when (new.status = 'PENDING') execute function noetl.die_again()`,
      )
    try {
      expect(await redriveDead(one, { limit: 10_000, dryRun: false })).toMatchObject({ matched: 55, more: false })
    } finally {
      await database.get().sql('drop function noetl.die_again cascade')
    }
  })
})

describe('purge', () => {
  it('removes only what was published before the window, in chunks, oldest first', async () => {
    await plant(12_000, 'PUBLISHED', `published_at=now() - interval '2 hours'`)
    await plant(10, 'PUBLISHED', `published_at=now() - interval '10 minutes'`)
    for (const status of ['PENDING', 'FAILED', 'IN_FLIGHT', 'DEAD'])
      await plant(1, status, `published_at=now() - interval '1 year'`)
    expect(await purgeOutbox(one.databases.shards[0]!.db, 3_600, { rowsMax: 7_000 })).toEqual({
      purged: 7_000,
      more: true,
    })
    expect(await purgeOutbox(one.databases.shards[0]!.db, 3_600, { rowsMax: 50_000 })).toEqual({
      purged: 5_000,
      more: false,
    })
    expect(await countBy(database.get())).toEqual({ PUBLISHED: 10, PENDING: 1, FAILED: 1, IN_FLIGHT: 1, DEAD: 1 })
  })

  it('is done by the daemon, and forgets expired dedup records', async () => {
    await plant(6_000, 'PUBLISHED', `published_at=now() - interval '2 hours'`)
    await plant(2, 'DEAD')
    await database.get().sql(
      `insert into noetl.subscription_dedup (subscription_id, dedup_key, execution_id, seen_at, expires_at)
       values (1, 'old', 1, now(), now() - interval '1 second'), (1, 'new', 1, now(), now() + interval '1 hour')`,
    )
    let purged = 0
    const upkeep = createOutboxUpkeep({
      databases: one.databases,
      clock: systemClock,
      random: Math.random,
      retentionSeconds: 3_600,
      onPurged: (_, rows) => {
        purged += rows
      },
      onError: (error) => {
        throw error
      },
    })
    await upkeep.start()
    await until('it has looked', () => upkeep.lastSuccessAgeMs() !== undefined)
    await upkeep.stop(1_000)
    expect(purged).toBe(6_000)
    expect(await database.get().sql('select dedup_key from noetl.subscription_dedup')).toMatchObject([
      { dedup_key: 'new' },
    ])
  })
})

describe('counting for the metrics', () => {
  it('is as fresh as the charts of it, and of a long outbox as exact as ever', async () => {
    const seen: OutboxCounts[] = []
    const slept: number[] = []
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, ...signals) => {
        slept.push(ms)
        return systemClock.sleep(5, ...signals)
      },
    }
    const counter = createOutboxCounter({
      databases: one.databases,
      clock,
      random: () => 1,
      onCounts: (_, counts) => seen.push(counts),
      onError: (error) => {
        throw error
      },
    })
    await plant(2, 'DEAD')
    await counter.start()
    await until('it has counted', () => seen.at(-1)?.dead === 2)
    expect(seen.at(-1)).toMatchObject({ pending_ready: 0, oldestAgeSeconds: 0 })
    await plant(7_000, 'PENDING', `created_at=now() - interval '10 minutes'`)
    await until('all of them are counted', () => seen.at(-1)?.pending_ready === 7_000)
    expect(seen.at(-1)!.oldestAgeSeconds).toBeGreaterThanOrEqual(600)
    expect(seen.at(-1)!.dead).toBe(2)
    await database.get().sql(`delete from noetl.outbox where status = 'PENDING'`)
    await until('none is left', () => seen.at(-1)?.pending_ready === 0)
    await counter.stop(1_000)
    expect(Math.max(...slept)).toBeLessThanOrEqual(5_000)
  })
})

describe('readiness', () => {
  const bus = {} as never
  const run = (limit: number, withBus = true) => outboxCheck(one.databases, withBus ? bus : undefined, limit).run(1_000)

  it('turns red when something waits too long, and says how much', async () => {
    await expect(run(300)).resolves.toContain('0 s')
    await plant(3, 'PENDING', `created_at=now() - interval '10 minutes'`)
    await expect(run(300)).rejects.toThrow(/waits for 600 s .*3 rows in all/)
    await expect(run(0)).resolves.toContain('600 s')
    await expect(run(300, false)).resolves.toContain('not configured')
    expect(outboxCheck(one.databases, undefined, 300).required).toBe(false)
  })

  it('does not count what is published or dead', async () => {
    await plant(3, 'PUBLISHED', `created_at=now() - interval '10 minutes'`)
    await plant(3, 'DEAD', `created_at=now() - interval '10 minutes'`)
    await expect(run(300)).resolves.toContain('0 s')
  })
})
