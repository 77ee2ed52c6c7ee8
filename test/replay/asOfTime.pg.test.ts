// Promise: an answer as of a time is the same whenever it is asked for. What counts is when an event came into the log, by
// the clock of the database, and no sender can date that back; and an answer that may still change says so.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { statement } from '../../src/db/queries.js'
import { ingestBatch, ingestEvent } from '../../src/services/events/ingest.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { diffExecution } from '../../src/services/replay/replay.js'
import { parseDiffRequest } from '../../src/services/replay/request.js'
import { readOpenSince } from '../../src/stores/replay/replayStore.js'
import { insertForeign } from '../state/stateHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Harness, openReplay, replay } from './replayHarness.js'

const database = useDatabase()
let core: TestCore
let harness: Harness
beforeAll(async () => {
  core = await openCore([database.get()])
  harness = openReplay(database.get())
  await registerPlaybook(core, 'tests/time')
})
afterAll(async () => {
  await harness.close()
  await core.close()
})

const start = async (): Promise<string> => (await startExecution(core, { path: 'tests/time' })).executionId
const post = (executionId: string, fields: object = {}) =>
  ingestEvent(core, { execution_id: executionId, event_type: 'step.enter', step: 's', ...fields })
const asOf = (executionId: string, time: string) => replay(harness, { execution_id: executionId, as_of_time: time })
const countAsOf = async (executionId: string, time: string) => (await asOf(executionId, time)).state['event_count']

/** A moment of the database that is over. */
async function moment(): Promise<string> {
  const [row] = await database.get().sql<{ at: string }>('select clock_timestamp()::text as at')
  await database.get().sql('select pg_sleep(0.002)')
  return row!.at
}

async function begin() {
  const connection = createConnection(database.get().settings)
  const run = (text: string) => connection.run(statement(text), [], 10_000)
  await run('begin')
  return {
    run,
    end: async (how: 'commit' | 'rollback') => {
      await run(how)
      await connection.close(1_000)
    },
  }
}

it('an event that claims to be old is not in an answer about the time before it came', async () => {
  const id = await start()
  await post(id)
  const then = await moment()
  const before = await asOf(id, then)
  await post(id, { created_at: '2020-01-01T00:00:00Z' })
  await ingestBatch(core, {
    execution_id: id,
    events: [{ event_type: 'step.exit', step: 's', timestamp: '2020-01-01T00:00:00Z' }],
  })
  await insertForeign(database.get(), id, { eventId: '5', type: 'step.enter', step: 'old', at: '2020-01-01T00:00:00Z' })
  const after = await asOf(id, then)
  expect(Buffer.from(after.document)).toEqual(Buffer.from(before.document))
  expect([before.mayChange, after.mayChange]).toEqual([false, false])
  expect(await countAsOf(id, await moment())).toBe(5)
  expect(await countAsOf(id, '2020-01-02T00:00:00Z')).toBe(0)
})

it('an event that claims to come from the future is in the answer as soon as it is here', async () => {
  const id = await start()
  await post(id, { created_at: '2100-01-01T00:00:00Z' })
  expect(await countAsOf(id, await moment())).toBe(2)
})

it('the time is taken under the lock, not when the transaction began', async () => {
  const id = await start()
  const holder = await begin()
  await holder.run(`select 1 from noetl.execution where execution_id = ${id} for update`)
  const waiting = post(id)
  await until('the append waits for the lock', async () => {
    const rows = await database
      .get()
      .sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    return rows.length > 0
  })
  const then = await moment()
  await holder.end('commit')
  await waiting
  expect(await countAsOf(id, then)).toBe(1)
  const rows = await database.get().sql<{ sorted: boolean }>(
    `select bool_and(ingest_time >= before) as sorted from (
       select ingest_time, lag(ingest_time, 1, '-infinity') over (order by stream_version) as before
       from noetl.event where execution_id = ${id}) as listed`,
  )
  expect(rows[0]!.sorted).toBe(true)
})

it('what is stored together comes in together', async () => {
  const id = await start()
  const events = Array.from({ length: 200 }, (_, n) => ({ event_type: 'step.enter', step: `s${n}` }))
  await ingestBatch(core, { execution_id: id, events })
  const rows = await database
    .get()
    .sql(`select distinct ingest_time from noetl.event where execution_id = ${id} and stream_version > 1`)
  expect(rows).toHaveLength(1)
})

it('an answer says that it may change while a write from before its time is open, and until its time is over', async () => {
  const id = await start()
  const settled = await moment()
  const writer = await begin()
  await writer.run(
    `insert into noetl.event (execution_id, event_id, catalog_id, event_type) values (${id}, 7, 1, 'step.enter')`,
  )
  const then = await moment()
  const open = await asOf(id, then)
  expect(open).toMatchObject({ mayChange: true, state: { event_count: 1, may_change: true } })
  expect(await asOf(id, settled)).toMatchObject({ mayChange: false })
  const diff = () =>
    diffExecution(harness, parseDiffRequest('cp', { execution_id: id, from: `time:${settled}`, to: `time:${then}` }))
  expect(await diff()).toMatchObject({ from: { mayChange: false }, to: { mayChange: true } })
  await writer.end('commit')
  expect(await asOf(id, then)).toMatchObject({ mayChange: false, state: { event_count: 2 } })
  expect((await asOf(id, then)).state).not.toHaveProperty('may_change')
  expect(await diff()).toMatchObject({ to: { mayChange: false } })
  expect(await asOf(id, '2100-01-01T00:00:00Z')).toMatchObject({ mayChange: true })
})

it('a reader that is open writes nothing', async () => {
  const id = await start()
  const reader = await begin()
  await reader.run('select count(*) from noetl.event')
  expect(await asOf(id, await moment())).toMatchObject({ mayChange: false })
  await reader.end('rollback')
})

it('a write that the role of the daemon may not see counts as one from any time', async () => {
  const role = `blind_${process.pid}`
  await database.get().sql(`create role ${role}`)
  const connection = createConnection(database.get().settings)
  try {
    await connection.run(statement(`set role ${role}`), [], 5_000)
    const writer = await begin()
    try {
      await writer.run(`insert into noetl.event (execution_id, event_id, catalog_id) values (1, 1, 1)`)
      expect(await readOpenSince(connection, 5_000)).toBe('0001-01-01T00:00:00.000000+00:00')
    } finally {
      await writer.end('rollback')
    }
  } finally {
    await connection.close(1_000)
    await database.get().sql(`drop role ${role}`)
  }
})

it('short writes of everybody do not make old answers uncertain', async () => {
  const id = await start()
  const then = await moment()
  const ids = await Promise.all(Array.from({ length: 8 }, start))
  let isOver = false
  const writing = Promise.all(
    ids.map(async (other) => {
      while (!isOver) await post(other)
    }),
  )
  for (let n = 0; n < 20; n++) expect(await asOf(id, then)).toMatchObject({ mayChange: false })
  isOver = true
  await writing
})
