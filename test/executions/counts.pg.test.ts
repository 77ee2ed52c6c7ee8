// Promise: executions are counted by status without reading the history: exactly up to a bound, beyond it as Postgres estimates.
import { expect, it } from 'vitest'
import { countExecutions } from '../../src/stores/executions/executionStore.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const sql = (text: string) => database.get().sql(text)
const counts = async (countedMax?: number) =>
  Object.fromEntries(
    (await countExecutions(database.get().db, countedMax)).map(({ status, count, isEstimate }) => [
      status,
      isEstimate ? `about ${count}` : count,
    ]),
  )

it('nothing is nothing', async () => {
  expect(await counts()).toEqual({})
})

it('few are counted, many are estimated, and subscriptions are no executions', async () => {
  await sql(`insert into noetl.execution (execution_id, catalog_id, status)
    select n, 1, case when n <= 3 then 'RUNNING' when n <= 10 then 'FAILED' else 'COMPLETED' end from generate_series(1, 500) as n`)
  await sql(`insert into noetl.execution (execution_id, catalog_id, status, start_event_type)
    select n, 1, 'RUNNING', 'subscription.registered' from generate_series(501, 504) as n`)
  expect(await counts()).toEqual({ RUNNING: 3, FAILED: 7, COMPLETED: 490 })
  await sql('analyze noetl.execution')
  expect(await counts(100)).toEqual({ RUNNING: 3, FAILED: 7, COMPLETED: 'about 490' })
})

it('reads about as many rows as it counts, however long the history is', async () => {
  await sql(`insert into noetl.execution (execution_id, catalog_id, status)
    select n, 1, 'COMPLETED' from generate_series(1001, 41000) as n`)
  await sql('vacuum analyze noetl.execution')
  const read = await database.get().db.tx(async (tx) => {
    const rowsRead = async () => {
      const [row] = await tx.run<{ rows: number }>({
        name: 'rows_read',
        text: `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relid = 'noetl.execution'::regclass`,
      })
      return row!.rows
    }
    const before = await rowsRead()
    await countExecutions(tx, 100)
    return (await rowsRead()) - before
  })
  expect(read).toBeGreaterThan(100)
  expect(read).toBeLessThan(1_000)
})
