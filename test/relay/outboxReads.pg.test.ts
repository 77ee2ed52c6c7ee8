// Promise: the relay reads what others wrote as it is: without an execution, waiting for ever, in lanes of others.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/db.js'
import { readEarlierIds, readExecution, readIds, readUnsettled } from '../../src/stores/outboxStore.js'
import { useDatabase } from '../support/database.js'
import { openTestDatabases } from '../support/topology.js'

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
    expect(others.map(({ outbox_id, owned, payload }) => ({ outbox_id, owned, payload }))).toEqual([
      { outbox_id: '1', owned: true, payload: '{}' },
      { outbox_id: '2', owned: false, payload: null },
    ])
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
  })
})
