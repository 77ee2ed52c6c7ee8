// Promise: outside publishers get rows under a lease, in order per execution, never a row that a live relay may be
// publishing; a mark acts only on rows that are still the caller's, and says which were not.
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LANES } from '../../src/domain/leases/lane.js'
import { outboxRoutes } from '../../src/http/routes/outbox/outbox.js'
import type { HttpServer } from '../../src/http/server.js'
import {
  claimOutbox,
  markOutboxFailed,
  markOutboxPublished,
  type OutboxClaimDeps,
  pendingOutbox,
} from '../../src/services/outbox/claims.js'
import { takeLeases } from '../../src/stores/leases/leaseStore.js'
import { server, testLimits } from '../http/httpHarness.js'
import { cloneDatabase, type TestDatabase, useDatabase } from '../support/database.js'
import { openTestDatabases } from '../support/topology.js'
import { until } from '../support/until.js'

const database = useDatabase()
let deps: OutboxClaimDeps
let other: TestDatabase
let sharded: OutboxClaimDeps
let fenced = 0

beforeAll(async () => {
  deps = {
    databases: openTestDatabases(database.get().url),
    random: () => 0,
    leaseSeconds: 15,
    attemptsMax: 20,
    deadPolicy: 'release',
    onFenced: (count) => {
      fenced += count
    },
  }
  other = await cloneDatabase(database.servers())
  sharded = { ...deps, databases: openTestDatabases(database.get().url, other.url) }
})
afterAll(async () => {
  await deps.databases.close(2_000)
  await sharded.databases.close(2_000)
  await other.drop()
})
beforeEach(async () => {
  await database.get().sql('truncate noetl.outbox restart identity')
  await database.get().sql(`update noetl.lease set owner = null, lease_until = '-infinity' where kind = 'outbox'`)
  fenced = 0
})

/** Rows by execution, in this order; answers their ids. */
async function plant(executions: readonly (number | null)[], extra = '', on: TestDatabase = database.get()) {
  const ids: string[] = []
  for (const [index, execution] of executions.entries()) {
    const [row] = await on.sql<{ outbox_id: string }>(
      `insert into noetl.outbox (execution_id, event_id, subject, payload) values ($1::bigint, $2::bigint, $3::text, $4::jsonb) returning outbox_id`,
      [
        execution,
        9_007_199_254_740_993n + BigInt(index),
        execution === null ? null : `noetl.events.${execution}`,
        '{"big": 9007199254740993}',
      ],
    )
    ids.push(row!.outbox_id)
  }
  if (extra !== '') await on.sql(extra)
  return ids
}

const claim = async (limit = 100, options: Partial<OutboxClaimDeps> = {}) =>
  (await claimOutbox({ ...deps, ...options }, { limit })).rows
const idsOf = (rows: readonly { outbox_id: string }[]) => rows.map((row) => row.outbox_id)
const statusOf = async (id: string) =>
  (
    await database
      .get()
      .sql<{ status: string; attempts: number; last_error: string | null; wait: number; seq: string | null }>(
        'select status, attempts, last_error, round(extract(epoch from available_at - now()))::int as wait, stream_seq as seq from noetl.outbox where outbox_id = $1::bigint',
        [id],
      )
  )[0]!

interface RowState {
  execution: number | null
  status: string
  isDue: boolean
}

async function plantInStates(rows: readonly RowState[]): Promise<void> {
  await database.get().sql('truncate noetl.outbox restart identity')
  await database.get().sql(
    `insert into noetl.outbox (execution_id, event_id, payload, status, available_at, lease_until, lease_owner)
     select e, 1000 + n, '{}', s, case when s = 'IN_FLIGHT' then now() else t end, case when s = 'IN_FLIGHT' then t end, 'http'
     from (select n, e, s, now() + case when due then interval '-1 second' else interval '1 hour' end as t
       from unnest($1::bigint[], $2::text[], $3::boolean[]) with ordinality as given (e, s, due, n)) as g order by n`,
    [rows.map((row) => row.execution), rows.map((row) => row.status), rows.map((row) => row.isDue)],
  )
}

/** The rule in its plainest form. */
function claimable(rows: readonly RowState[], deadPolicy: 'hold' | 'release'): string[] {
  const stuck = new Set<number | null>()
  const ids: string[] = []
  for (const [index, { execution, status, isDue }] of rows.entries()) {
    if (status === 'PUBLISHED' || (status === 'DEAD' && deadPolicy === 'release')) continue
    if (status !== 'DEAD' && isDue && !stuck.has(execution)) ids.push(String(index + 1))
    else if (execution !== null) stuck.add(execution)
  }
  return ids
}

describe('claim', () => {
  it('takes rows in order, once, with one more attempt', async () => {
    const ids = await plant([1, 2, 1, null])
    const rows = await claim()
    expect(idsOf(rows)).toEqual(ids)
    expect(rows.map((row) => row.attempts)).toEqual([1, 1, 1, 1])
    expect(await claim()).toEqual([])
    expect(await statusOf(ids[0]!)).toMatchObject({ status: 'IN_FLIGHT', attempts: 1 })
  })

  it('holds back later rows of an execution that waits, and no others', async () => {
    await plant(
      [1, 2, 1, 2, 3],
      `update noetl.outbox set status = 'FAILED', available_at = now() + interval '1 minute' where outbox_id = 1`,
    )
    expect(idsOf(await claim())).toEqual(['2', '4', '5'])
  })

  it('never overtakes a row that is on its way under a live lease', async () => {
    await plant([1, 1, 1])
    expect(idsOf(await claim(1))).toEqual(['1'])
    expect(await claim()).toEqual([])
    await database.get().sql(`update noetl.outbox set lease_until = now() - interval '1 second' where outbox_id = 1`)
    expect(idsOf(await claim())).toEqual(['1', '2', '3'])
    expect((await statusOf('1')).attempts).toBe(2)
  })

  it('takes back rows that were claimed without a lease, after 15 seconds', async () => {
    await plant(
      [1, 2],
      `update noetl.outbox set status = 'IN_FLIGHT', locked_at = now() - (outbox_id * interval '10 seconds')`,
    )
    expect(idsOf(await claim())).toEqual(['2'])
  })

  it('stops behind a dead row only when the policy is to hold', async () => {
    await plant([1, 1, 2], `update noetl.outbox set status = 'DEAD' where outbox_id = 1`)
    expect(idsOf(await claim(100, { deadPolicy: 'hold' }))).toEqual(['3'])
    expect(idsOf(await claim())).toEqual(['2'])
  })

  it('leaves the lanes of a live relay alone, and takes them when its lease is over', async () => {
    const executions = Array.from({ length: 200 }, (_, index) => index + 1)
    const ids = await plant(executions)
    const held = await takeLeases(
      database.get().db,
      { kind: 'outbox', owner: 'relay', deadlineMs: 1_000 },
      { slots: LANES, limit: 32, leaseSeconds: 60 },
    )
    const lanesOf = async (rows: readonly { outbox_id: string }[]) =>
      (
        await database
          .get()
          .sql<{ lane: number }>(
            'select distinct (hashint8extended(execution_id, 0) & 63)::smallint as lane from noetl.outbox where outbox_id = any($1::bigint[])',
            [idsOf(rows)],
          )
      ).map((row) => row.lane)
    const rows = await claim(1_000)
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.length).toBeLessThan(200)
    for (const lane of await lanesOf(rows)) expect(held.map((row) => row.slot)).not.toContain(lane)
    expect(await claim(1_000)).toEqual([])

    await database.get().sql(`update noetl.lease set lease_until = now() - interval '1 second' where kind = 'outbox'`)
    const rest = await claim(1_000)
    expect(rows.length + rest.length).toBe(ids.length)
    // A relay that only was late must not go on with rows it still has in memory.
    const tokens = await database
      .get()
      .sql<{ slot: number; token: string }>(`select slot, token from noetl.lease where kind = 'outbox'`)
    const taken = new Set(await lanesOf(rest))
    expect(taken.size).toBeGreaterThan(20)
    for (const lane of held.filter((one) => taken.has(one.slot)))
      expect(tokens.find((row) => row.slot === lane.slot)!.token).not.toBe(lane.token)
  })

  it('leaves out what somebody else has locked, and what comes after it', async () => {
    await plant([1, 1, 2])
    await database.get().db.tx(async (tx) => {
      await tx.run({ name: 'test', text: 'select 1 from noetl.outbox where outbox_id = 1 for update' })
      expect(idsOf(await claim())).toEqual(['3'])
    })
    expect(idsOf(await claim())).toEqual(['1', '2'])
  })

  it('hands every row to exactly one of many callers, each execution in order', async () => {
    await database
      .get()
      .sql(
        `insert into noetl.outbox (execution_id, event_id, payload) select 1 + n % 40, n, '{}' from generate_series(1, 2000) n`,
      )
    const seen: string[] = []
    const published = new Map<string, string[]>()
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        // Empty while others are at work on what is left.
        while (seen.length < 2_000) {
          const rows = await claim(50)
          seen.push(...idsOf(rows))
          for (const row of rows) {
            const list = published.get(row.execution_id!) ?? []
            published.set(row.execution_id!, [...list, row.outbox_id])
          }
          const { marked } = await markOutboxPublished(deps, {
            outboxIds: idsOf(rows),
            leaseTokens: rows.map((row) => row.lease_token),
          })
          expect(marked).toBe(rows.length)
        }
      }),
    )
    expect(seen).toHaveLength(2_000)
    expect(new Set(seen).size).toBe(2_000)
    for (const list of published.values()) expect(list.map(Number)).toEqual(list.map(Number).sort((a, b) => a - b))
  })

  // In the lane of the long one, so that its rows are in the way.
  const sameLane = async (execution: number): Promise<number> => {
    const [row] = await database
      .get()
      .sql<{ other: number }>(
        'select n as other from generate_series(1000, 2000) n where noetl.lane_of(n) = noetl.lane_of($1) limit 1',
        [execution],
      )
    return row!.other
  }

  it('finds work behind 60,000 rows of one execution that waits', async () => {
    await database
      .get()
      .sql(
        `insert into noetl.outbox (execution_id, event_id, payload, available_at) select 1, n, '{}', case n when 1 then now() + interval '1 hour' else now() end from generate_series(1, 60000) n`,
      )
    const [other, same] = await plant([2, await sameLane(1)])
    expect(idsOf(await claim(10))).toEqual([other, same])
    expect(await claim(10)).toEqual([])
  })

  it.each(['PENDING', 'FAILED'])('finds the one due row behind 60,000 %s rows that wait', async (status) => {
    await database
      .get()
      .sql(
        `insert into noetl.outbox (execution_id, event_id, payload, status, available_at) select n % 30000, n, '{}', $1, now() + interval '1 hour' from generate_series(1, 60000) n`,
        [status],
      )
    const [due] = await plant([70_000])
    expect(await pendingOutbox(deps)).toMatchObject({ pending: 1 })
    expect(idsOf(await claim(10))).toEqual([due])
    expect(await pendingOutbox(deps)).toMatchObject({ pending: 0 })
  })

  it('does not wait for another claim, and leaves the lanes of that one alone', async () => {
    const db = database.get()
    await plant(Array.from({ length: 200 }, (_, index) => index + 1))
    // The first claim hangs when it writes the row of execution 1, until the lock is free.
    await db.sql(`create function hang() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(42); return new; end'`)
    await db.sql(
      'create trigger hang before update on noetl.outbox for each row when (new.execution_id = 1) execute function hang()',
    )
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const isLocked = async (granted: boolean) =>
      (await db.sql(`select 1 from pg_locks where locktype = 'advisory' and objid = 42 and granted = $1`, [granted]))
        .length > 0
    const holder = db.db.tx(async (tx) => {
      await tx.run({ name: 'test', text: 'select pg_advisory_xact_lock(42)' })
      await released
    })
    try {
      await until('the lock is held', () => isLocked(true))
      const first = claim(8)
      await until('the first claim hangs', () => isLocked(false))
      const [second, third] = [await claim(50), await claim(50)]
      expect([second.length, third.length]).toEqual([50, 50])
      expect(await isLocked(false)).toBe(true)
      release()
      await holder
      expect(idsOf(await first)).toContain('1')
      expect(new Set([...idsOf(await first), ...idsOf(second), ...idsOf(third)]).size).toBe(108)
    } finally {
      release()
      await db.sql('drop trigger hang on noetl.outbox')
      await db.sql('drop function hang')
    }
  })

  it('finds exactly what may be claimed, whatever state the rows are in', async () => {
    const row = fc.record({
      execution: fc.option(fc.nat(30), { freq: 20 }),
      status: fc.constantFrom('PENDING', 'PENDING', 'PENDING', 'PENDING', 'FAILED', 'IN_FLIGHT', 'PUBLISHED', 'DEAD'),
      isDue: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 400, size: 'max' }),
        fc.constantFrom('hold' as const, 'release' as const),
        fc.integer({ min: 1, max: 60 }),
        async (rows, deadPolicy, limit) => {
          await plantInStates(rows)
          const found: string[] = []
          for (let part = await claim(limit, { deadPolicy }); part.length > 0; ) {
            found.push(...idsOf(part))
            await markOutboxPublished(deps, { outboxIds: idsOf(part) })
            part = await claim(limit, { deadPolicy })
          }
          expect(found.sort((left, right) => Number(left) - Number(right))).toEqual(claimable(rows, deadPolicy))
        },
      ),
      { numRuns: 12 },
    )
  })
})

describe('mark-published', () => {
  it('acts on the caller’s own claim and names the rest', async () => {
    const [one, two] = await plant([1, 2])
    const rows = await claim()
    const answer = await markOutboxPublished(deps, {
      outboxIds: [one!, two!, '77'],
      leaseTokens: [rows[0]!.lease_token, '5', '5'],
      streamSeqs: ['41', '42', '43'],
    })
    expect(answer).toEqual({ marked: 1, notMarked: [two, '77'] })
    expect(await statusOf(one!)).toMatchObject({ status: 'PUBLISHED', seq: '41' })
    expect(fenced).toBe(2)
    // Again: it is not in flight any more.
    expect(await markOutboxPublished(deps, { outboxIds: [one!], leaseTokens: [rows[0]!.lease_token] })).toMatchObject({
      marked: 0,
    })
  })

  it('turns a late mark away when somebody else has the row now', async () => {
    await plant([1])
    const [first] = await claim()
    await database.get().sql(`update noetl.outbox set lease_until = now() - interval '1 second'`)
    // Nobody has it yet: the caller has proof that it was published.
    const [second] = await claim()
    expect(await markOutboxPublished(deps, { outboxIds: ['1'], leaseTokens: [first!.lease_token] })).toEqual({
      marked: 0,
      notMarked: ['1'],
    })
    expect((await statusOf('1')).status).toBe('IN_FLIGHT')
    expect(await markOutboxPublished(deps, { outboxIds: ['1'], leaseTokens: [second!.lease_token] })).toMatchObject({
      marked: 1,
    })
  })

  it('without tokens acts only while the lease runs', async () => {
    await plant([1, 2, 3], `update noetl.outbox set status = 'PENDING'`)
    await claim(2)
    await database.get().sql(`update noetl.outbox set lease_until = now() - interval '1 second' where outbox_id = 1`)
    expect(await markOutboxPublished(deps, { outboxIds: ['1', '2', '3'] })).toEqual({
      marked: 1,
      notMarked: ['1', '3'],
    })
  })
})

describe('mark-failed', () => {
  it('waits by the attempts of the row: 1, 2, 4 … 256', async () => {
    await plant([1])
    for (const wait of [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]) {
      const [row] = await claim()
      const answer = await markOutboxFailed(deps, {
        outboxId: '1',
        error: 'no',
        maxDelaySeconds: 300,
        leaseToken: row!.lease_token,
      })
      expect(answer).toEqual({ marked: true, availableInSeconds: wait })
      expect(Math.abs((await statusOf('1')).wait - wait)).toBeLessThanOrEqual(1)
      expect(await claim()).toEqual([])
      await database.get().sql('update noetl.outbox set available_at = now()')
    }
    await claim()
    expect(await markOutboxFailed(deps, { outboxId: '1', error: 'no', maxDelaySeconds: 30 })).toMatchObject({
      availableInSeconds: 30,
    })
  })

  it('gives up after the last attempt, with the reason', async () => {
    await plant([1], 'update noetl.outbox set attempts = 19')
    await claim()
    await markOutboxFailed(deps, { outboxId: '1', error: 'refused by the broker', maxDelaySeconds: 300 })
    expect(await statusOf('1')).toMatchObject({
      status: 'DEAD',
      attempts: 20,
      last_error: 'gave up after 20 attempts: refused by the broker',
    })
  })

  it('cannot take back what was published, and tells about unknown ids', async () => {
    await plant([1])
    await claim()
    await markOutboxPublished(deps, { outboxIds: ['1'] })
    for (const outboxId of ['1', '99'])
      expect(await markOutboxFailed(deps, { outboxId, error: 'late', maxDelaySeconds: 300 })).toEqual({
        marked: false,
        availableInSeconds: 0,
      })
    expect((await statusOf('1')).status).toBe('PUBLISHED')
  })
})

describe('pending-count', () => {
  it('counts what is due and what was abandoned', async () => {
    await plant([1, 2, 3, 4, 5, 6])
    await database.get().sql(`
      update noetl.outbox set
        status = (array['PENDING','FAILED','FAILED','IN_FLIGHT','IN_FLIGHT','PUBLISHED'])[outbox_id],
        available_at = now() + case when outbox_id = 3 then interval '1 minute' else interval '0' end,
        lease_until = now() + case when outbox_id = 4 then interval '1 minute' else interval '-1 second' end`)
    expect(await pendingOutbox(deps)).toEqual({ pending: 3, failedShards: [] })
  })
})

describe('over HTTP', () => {
  let http: HttpServer
  const post = async (path: string, body: string) => {
    const answer = await http.app.inject({
      method: 'POST',
      url: `/api/internal/outbox/${path}`,
      headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
      payload: body,
    })
    return { status: answer.statusCode, text: answer.body, body: JSON.parse(answer.body), headers: answer.headers }
  }
  beforeAll(() => {
    http = server({ access: { internalTokens: ['t'] }, limits: testLimits() }, outboxRoutes({ outbox: deps }))
  })

  it('answers in the shape of the NoETL server, big numbers bare, absent fields left out', async () => {
    await plant([7, null])
    const answer = await post('claim', '{"limit": 5000000}')
    const token = answer.body.rows[0].lease_token
    expect(answer.text).toBe(
      `{"rows":[{"outbox_id":1,"event_id":9007199254740993,"execution_id":7,"subject":"noetl.events.7","payload":{"big":9007199254740993},"payload_codec":"json","attempts":1,"lease_token":${token}},` +
        `{"outbox_id":2,"event_id":9007199254740994,"payload":{"big":9007199254740993},"payload_codec":"json","attempts":1,"lease_token":${token}}],"claimed":2}`,
    )
    expect((await post('mark-published', `{"outbox_ids":[1,"2",3],"lease_tokens":[${token},${token},1]}`)).text).toBe(
      '{"marked":2,"not_marked":[3]}',
    )
  })

  it('clamps the limit and takes no body for the default', async () => {
    await database
      .get()
      .sql(
        `insert into noetl.outbox (execution_id, event_id, payload) select n, n, '{}' from generate_series(1, 1200) n`,
      )
    expect((await post('claim', '{"limit": 0}')).body.claimed).toBe(1)
    expect((await post('claim', '{"limit": -5}')).body.claimed).toBe(1)
    expect((await post('claim', '')).body.claimed).toBe(100)
    expect((await post('claim', '{"limit": 99999}')).body.claimed).toBe(1_000)
  })

  it.each([
    ['mark-published', '{"outbox_ids": []}'],
    ['mark-published', '{}'],
    ['mark-published', '{"outbox_ids": [1], "lease_tokens": [1, 2]}'],
    ['mark-published', '{"outbox_ids": [1.5]}'],
    ['mark-failed', '{"outbox_id": 1, "error": ""}'],
    ['mark-failed', '{"outbox_id": 1, "error": "  "}'],
    ['mark-failed', '{"outbox_id": 1}'],
    ['mark-failed', '{"outbox_id": 1, "error": "x", "max_delay_seconds": 1.5}'],
    ['mark-failed', '{"outbox_id": 1, "error": "x", "max_delay_seconds": "x"}'],
    ['claim', '{"limit": "many"}'],
    ['claim', '{"shard": 1}'],
  ])('refuses %s %s with 400', async (path, body) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.any(String), status: 400, detail: expect.any(String) })
  })

  it.each([
    [0, 1],
    [-9_223_372_036_854_775_808n, 1],
    [5, 5],
    [86_401, 256],
    [9_223_372_036_854_775_807n, 256],
  ])('takes a longest wait of %i seconds; the row waits %i', async (longest, waits) => {
    await plant([1], 'update noetl.outbox set attempts = 18')
    await post('claim', '{}')
    const answer = await post('mark-failed', `{"outbox_id": 1, "error": "broken", "max_delay_seconds": ${longest}}`)
    expect(answer.text).toBe(`{"marked":true,"available_at_in":${waits}}`)
  })

  it('reads the attempts from the row, not from the request', async () => {
    await plant([1], 'update noetl.outbox set attempts = 4')
    await post('claim', '{}')
    expect((await post('mark-failed', '{"outbox_id": 1, "error": "broken", "attempts": 1}')).text).toBe(
      '{"marked":true,"available_at_in":16}',
    )
  })

  it('serves whole envelopes of rows, of removed rows from the log, and 404 otherwise', async () => {
    await plant([7, null])
    const get = async (path: string) => {
      const answer = await http.app.inject({
        method: 'GET',
        url: `/api/outbox/payload/${path}`,
        headers: { host: 'localhost' },
      })
      return { status: answer.statusCode, text: answer.body }
    }
    expect(await get('7/9007199254740993')).toEqual({ status: 200, text: '{"big": 9007199254740993}' })
    expect((await get('none/9007199254740994')).status).toBe(200)
    expect((await get('none/5')).status).toBe(404)
    expect((await get('7/5')).status).toBe(404)
    expect((await get('seven/5')).status).toBe(400)
    await database.get().sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, created_at, event_time, event_type, result, stream_version)
       values (7, 5, 3, '2026-01-02 03:04:05.123456', now(), 'step.exit', '{"n": 1.0}', 2)`,
    )
    expect(await get('7/5')).toEqual({
      status: 200,
      text: '{"event_id":5,"execution_id":7,"catalog_id":3,"stream_version":2,"tenant_id":"default","organization_id":"default","event_type":"step.exit","timestamp":"2026-01-02T03:04:05.123456+00:00","result":{"n":1.0}}',
    })
  })
})

describe('several databases', () => {
  it('claims over all of them; tokens tell a mark where to go, an id alone does not', async () => {
    await plant([1, 2])
    await plant([3, 4], '', other)
    const { rows } = await claimOutbox(sharded, { limit: 3 })
    expect(rows.map((row) => [row.shard, row.outbox_id])).toEqual([
      [0, '1'],
      [0, '2'],
      [1, '1'],
    ])
    await expect(markOutboxPublished(sharded, { outboxIds: ['1'] })).rejects.toThrow(/lease_token/)
    const last = rows[2]!
    expect(await markOutboxPublished(sharded, { outboxIds: ['1'], leaseTokens: [last.lease_token] })).toEqual({
      marked: 1,
      notMarked: [],
    })
    expect((await statusOf('1')).status).toBe('IN_FLIGHT')
    expect(
      await markOutboxFailed(sharded, { outboxId: '1', error: 'x', maxDelaySeconds: 300, shard: 0 }),
    ).toMatchObject({ marked: true })
    expect((await claimOutbox(sharded, { limit: 9, shard: 1 })).rows).toMatchObject([{ outbox_id: '2', shard: 1 }])
    await expect(claimOutbox(sharded, { limit: 9, shard: 2 })).rejects.toThrow(/shard must be from 0 to 1/)
  })

  it('go on without one that is away, and say so', async () => {
    await plant([1])
    const dead = new URL(other.url)
    dead.port = '1'
    const databases = openTestDatabases(database.get().url, dead.toString())
    try {
      const half = { ...deps, databases }
      expect(await claimOutbox(half, { limit: 10 })).toMatchObject({ rows: [{ shard: 0 }], failedShards: [1] })
      expect(await pendingOutbox(half)).toEqual({ pending: 0, failedShards: [1] })
      await expect(claimOutbox(half, { limit: 10, shard: 1 })).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      await databases.close(1_000)
    }
  })
})
