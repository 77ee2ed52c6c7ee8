// Promise: the relay reads what others wrote as it is: without an execution, waiting for ever, in lanes of others.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Db } from '../../../src/db/db.js'
import { readEarlierIds, readExecution, readIds, readUnsettled } from '../../../src/stores/outbox/outboxStore.js'
import { useDatabase } from '../../support/database.js'
import { openTestDatabases } from '../../support/topology.js'

const database = useDatabase()
const ALL_LANES = Array.from({ length: 64 }, (_, lane) => lane)
let databases: ReturnType<typeof openTestDatabases>
let db: Db

beforeAll(() => {
  databases = openTestDatabases(database.get().url)
  db = databases.shards[0]!.db
})
afterAll(() => databases.close(1_000))
beforeEach(async () => {
  await database.get().sql('truncate noetl.outbox restart identity')
})

const plant = (columns: string, values: string) =>
  database.get().sql(`insert into noetl.outbox (event_id, payload, ${columns}) values ${values}`)

describe('reading the outbox', () => {
  it('reads a row as it was written', async () => {
    await plant(
      'execution_id, subject, attempts, trace',
      `(9007199254740993, '{"event_type": "a", "stream_version": 3}', 380000000000000001, 's.t', 4, '{"traceparent": "x"}')`,
    )
    const [row] = await readUnsettled(db, '0', 10, ALL_LANES)
    expect(row).toMatchObject({
      outbox_id: '1',
      owned: true,
      execution_id: '380000000000000001',
      event_id: '9007199254740993',
      attempts: 4,
      wait_ms: 0,
      subject: 's.t',
      payload: '{"event_type": "a", "stream_version": 3}',
      trace: '{"traceparent": "x"}',
      event_type: 'a',
      stream_version: '3',
    })
    expect(await readIds(db, ['1'])).toEqual([row])
    expect(await readExecution(db, '380000000000000001', 10, false)).toEqual([row])
    expect(await readExecution(db, '380000000000000001', 10, true)).toEqual([row])
  })

  it('reads rows without an execution, and of lanes of others only the id', async () => {
    await plant('execution_id', `(5, '{}', null), (6, '{}', 7)`)
    const [first, second] = await readUnsettled(db, '0', 10, ALL_LANES)
    expect(first).toMatchObject({ execution_id: null, event_id: '5', subject: null, event_type: null })
    const others = await readUnsettled(
      db,
      '0',
      10,
      ALL_LANES.filter((lane) => lane !== second!.lane),
    )
    expect(others.map(({ outbox_id, owned }) => ({ outbox_id, owned }))).toEqual([
      { outbox_id: '1', owned: true },
      { outbox_id: '2', owned: false },
    ])
  })

  it('reads its part of what it visits, the same from whichever side it is shared', async () => {
    await database.get().sql(
      `insert into noetl.outbox (execution_id, event_id, payload, status)
       select 100 + n % 40, n, '{}', (array['PENDING', 'PUBLISHED', 'FAILED'])[1 + n % 3] from generate_series(1, 300) n`,
    )
    const all = await readUnsettled(db, '0', 1_000, ALL_LANES)
    expect(all).toHaveLength(200)
    const part = async (lanes: number[], visit: number) => {
      const read = []
      for (let after = '0'; ; ) {
        const rows = await readUnsettled(db, after, visit, lanes)
        if (rows.length === 0) return read
        read.push(...rows.filter((row) => row.owned))
        after = rows[rows.length - 1]!.outbox_id
      }
    }
    for (const visit of [1, 7, 50, 1_000]) {
      const halves = [...(await part(ALL_LANES.slice(0, 32), visit)), ...(await part(ALL_LANES.slice(32), visit))]
      expect(halves.sort((a, b) => Number(a.outbox_id) - Number(b.outbox_id))).toEqual(all)
    }
  })

  it('is not stopped by rows that wait for ever', async () => {
    await plant(
      'execution_id, status, available_at, lease_until',
      `(1, '{}', 1, 'FAILED', 'infinity', null), (2, '{}', 2, 'IN_FLIGHT', now(), 'infinity'),
       (3, '{}', 3, 'PENDING', '-infinity', null), (4, '{}', 4, 'FAILED', now() + interval '1 hour', null)`,
    )
    const waits = (await readUnsettled(db, '0', 10, ALL_LANES)).map((row) => row.wait_ms)
    expect(waits.slice(0, 3)).toEqual([9e15, 9e15, 0])
    expect(waits[3]).toBeGreaterThan(3_590_000)
  })

  it('finds what is unsettled of the given executions up to an id', async () => {
    await plant(
      'execution_id, status',
      `(1, '{}', 1, 'PENDING'), (2, '{}', 1, 'PUBLISHED'), (3, '{}', 2, 'FAILED'), (4, '{}', 3, 'PENDING'), (5, '{}', 1, 'PENDING')`,
    )
    expect([...(await readEarlierIds(db, ['1', '2', '9'], '4'))].sort()).toEqual(['1', '3'])
    await database
      .get()
      .sql(
        `insert into noetl.outbox (execution_id, event_id, payload) select 5, n, '{}' from generate_series(1, 3000) n`,
      )
    expect(await readEarlierIds(db, ['5'], '100000')).toHaveLength(3_000)
  })
})
