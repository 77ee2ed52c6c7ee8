// Promise: a row that somebody else writes into noetl.event with the NoETL server's columns alone is found by every
// reader within the adopt interval, gets a dense version, exactly one, and never waits for anybody else's row.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConnection } from '../../src/db/connection.js'
import { statement } from '../../src/db/queries.js'
import { systemClock } from '../../src/runtime/clock.js'
import { adoptExecution, createAdopter } from '../../src/services/events/adoption.js'
import { ingestEvent } from '../../src/services/events/ingest.js'
import { pageOfExecutions } from '../../src/services/executions/executionPages.js'
import { executionDetail, executionStatus, latestEvents } from '../../src/services/executions/executionQueries.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { createStepProgress } from '../../src/services/executions/stepProgress.js'
import { numberedIds, readWhole } from '../../src/stores/events/eventTransferStore.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let second: TestCore
const adopters: ReturnType<typeof createAdopter>[] = []
const adopted: { executionId: string; count: number }[] = []
const errors: string[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  second = await openCore([database.get()], { hostName: 'second-host' })
  await registerPlaybook(core, 'tests/foreign')
  // Two daemons look for the same rows all the time.
  for (const { databases } of [core, second]) {
    const adopter = createAdopter({
      databases,
      clock: systemClock,
      random: Math.random,
      intervalMs: 20,
      onAdopted: (_shard, executionId, count) => adopted.push({ executionId, count }),
      onError: (error) => errors.push(error.message),
    })
    adopters.push(adopter)
    await adopter.start()
  }
})
afterAll(async () => {
  for (const adopter of adopters) await adopter.stop(2_000)
  await core.close()
  await second.close()
})

const sql = <R>(text: string, values: string[] = []) => database.get().sql<R>(text, values)
const start = async (): Promise<string> => (await startExecution(core, { path: 'tests/foreign' })).executionId

/** The columns the NoETL server writes, and no others. */
const INSERT = `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_id, node_name, status, context, result, meta, created_at)
  values ($1::bigint, $2::bigint, 7, $3, $4, $4, $5, $6::jsonb, '{"status": "x"}', '{}', '2026-06-01 10:00:00')`
const write = (executionId: string, eventId: string, type: string, node = 'n', context = '{}') =>
  sql(INSERT, [executionId, eventId, type, node, 'RUNNING', context])

interface Versions {
  n: number
  distinct: number
  low: number | null
  high: number | null
  unnumbered: number
  model: string
}
const versionsOf = async (executionId: string): Promise<Versions> =>
  (
    await sql<Versions>(
      `select count(*)::int as n, count(distinct stream_version)::int as distinct, min(stream_version)::int as low, max(stream_version)::int as high,
         count(*) filter (where stream_version is null)::int as unnumbered,
         (select stream_version || '/' || event_count from noetl.execution x where x.execution_id = $1) as model
       from noetl.event where execution_id = $1`,
      [executionId],
    )
  )[0]!
const settled = (executionId: string, rows: number) =>
  until(`all ${rows} rows of ${executionId} have a version`, async () => {
    const found = await versionsOf(executionId)
    return found.n === rows && found.unnumbered === 0 && found
  })
const dense = (rows: number) => ({ n: rows, distinct: rows, low: 1, high: rows, model: `${rows}/${rows}` })

describe('a row written by somebody else', () => {
  it('of an execution nobody knew is found by list, show, status and tail', async () => {
    const executionId = core.ids.next()
    const parent = core.ids.next()
    await sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, parent_execution_id, event_type, node_name, context, created_at)
       values ($1, $2, 7, $3, 'playbook_started', 'playbook', '{"path": "foreign/path", "workload": {"a": 1}}', '2026-06-01 10:00:00')`,
      [executionId, core.ids.next(), parent],
    )
    await write(executionId, core.ids.next(), 'step.enter', 'first')
    await settled(executionId, 2)
    const page = await pageOfExecutions(core, {
      statuses: ['RUNNING'],
      catalogId: '7',
      pathPattern: 'foreign/%',
      since: null,
      until: null,
      after: null,
      limit: 10,
    })
    expect(page.rows.map((row) => row.execution_id)).toContain(executionId)
    const detail = await executionDetail(core, executionId as never, latestEvents(10))
    expect(detail).toMatchObject({
      row: { path: 'foreign/path', parent_execution_id: parent, start_time: '2026-06-01 10:00:00+00' },
      workload: { a: 1 },
    })
    expect(detail.events).toHaveLength(2)
    expect(
      (await executionStatus({ ...core, stepProgress: createStepProgress() }, executionId as never)).row,
    ).toMatchObject({
      status: 'RUNNING',
      last_node_name: 'first',
    })
    const ids = await numberedIds(database.get().db, executionId, '0', 10)
    const tail = await readWhole(
      database.get().db,
      executionId,
      ids.map((row) => row.event_id),
    )
    expect(tail.map((row) => [row.stream_version, row.event_type])).toEqual([
      ['1', 'playbook_started'],
      ['2', 'step.enter'],
    ])
  })

  it('of an execution without a start event is listed too', async () => {
    const executionId = core.ids.next()
    await write(executionId, core.ids.next(), 'step.enter', 'orphan')
    await settled(executionId, 1)
    const filter = { statuses: null, catalogId: null, pathPattern: null, since: null, until: null, after: null }
    const page = await pageOfExecutions(core, { ...filter, limit: 100 })
    expect(page.rows.map((row) => row.execution_id)).toContain(executionId)
    // And paging passes over it without losing anybody.
    const seen: string[] = []
    let after: { startTime: string; executionId: string } | null = null
    do {
      const next: Awaited<ReturnType<typeof pageOfExecutions>> = await pageOfExecutions(core, {
        ...filter,
        after,
        limit: 1,
      })
      seen.push(...next.rows.map((row) => row.execution_id))
      after = next.next ?? null
    } while (after !== null)
    expect(seen).toEqual(page.rows.map((row) => row.execution_id))
  })

  it('ends an execution like any other event', async () => {
    const executionId = await start()
    await write(executionId, core.ids.next(), 'playbook.failed')
    await settled(executionId, 2)
    const [row] = await sql('select status, end_time::text from noetl.execution where execution_id = $1', [executionId])
    expect(row).toEqual({ status: 'FAILED', end_time: '2026-06-01 10:00:00+00' })
  })
})

describe('versions stay dense', () => {
  it('when foreign rows and our own appends come at the same time, with two adopters', async () => {
    const executions = await Promise.all(Array.from({ length: 4 }, start))
    const before = adopted.length
    await Promise.all(
      executions.flatMap((executionId) => [
        (async () => {
          for (let n = 0; n < 15; n++) await write(executionId, core.ids.next(), 'step.enter')
        })(),
        (async () => {
          for (let n = 0; n < 15; n++)
            await ingestEvent(n % 2 === 0 ? core : second, {
              execution_id: executionId,
              step: 's',
              event_type: 'step.exit',
            })
        })(),
      ]),
    )
    for (const executionId of executions) expect(await settled(executionId, 31)).toMatchObject(dense(31))
    const counted = adopted.slice(before).filter(({ executionId }) => executions.includes(executionId))
    expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(4 * 15)
  })

  it('when several adopt one execution at the same moment', async () => {
    const executionId = core.ids.next()
    await sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, node_name)
       select $1::bigint, 1000 + n, 7, 'step.enter', 'n' from generate_series(1, 500) n`,
      [executionId],
    )
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        adoptExecution((n % 2 ? core : second).databases.of(executionId), executionId),
      ),
    )
    expect(await settled(executionId, 500)).toMatchObject(dense(500))
  })

  it('when a transaction with an old id commits late', async () => {
    const executionId = await start()
    const old = core.ids.next()
    const late = createConnection(database.get().settings)
    try {
      await late.run(statement('begin'), [], 5_000)
      await late.run({ name: 'late', text: INSERT }, [executionId, old, 'step.enter', 'late', 'RUNNING', '{}'], 5_000)
      await ingestEvent(core, { execution_id: executionId, step: 'newer', event_type: 'step.enter' })
      await write(executionId, core.ids.next(), 'step.exit', 'newest')
      // The open transaction delays neither them nor anybody else.
      await until('the committed rows have versions', async () => (await versionsOf(executionId)).high === 3)
      await late.run(statement('commit'), [], 5_000)
    } finally {
      await late.close(1_000)
    }
    expect(await settled(executionId, 4)).toMatchObject(dense(4))
    const tail = await numberedIds(database.get().db, executionId, '3', 10)
    expect(tail.map((row) => row.event_id)).toEqual([old])
    const [row] = await sql('select last_node_name from noetl.execution where execution_id = $1', [executionId])
    expect(row).toEqual({ last_node_name: 'newest' })
  })
})

describe('a row that cannot be read', () => {
  it.each([
    ['a time beyond every calendar', `'infinity'::timestamp`, `'{}'::jsonb`],
    [
      'a path longer than an index takes',
      'now()',
      `jsonb_build_object('path', (select string_agg(md5(n::text), '') from generate_series(1, 400) n))`,
    ],
  ])('holds up no other execution: %s', async (_name, time, context) => {
    const poison = core.ids.next()
    await sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, context, created_at) values ($1, 1, 7, 'playbook_started', ${context}, ${time})`,
      [poison],
    )
    const good = core.ids.next()
    await write(good, '1', 'step.enter')
    expect(await settled(good, 1)).toMatchObject(dense(1))
  })

  it('and six thousand rows of it neither', async () => {
    const poison = '1'
    await sql(
      `insert into noetl.event (execution_id, event_id, catalog_id, event_type, created_at)
       select $1::bigint, n, 7, 'step.enter', 'infinity' from generate_series(1, 6000) n`,
      [poison],
    )
    const good = core.ids.next()
    await write(good, '1', 'step.enter')
    expect(await settled(good, 1)).toMatchObject(dense(1))
    expect(errors.some((message) => message.includes(poison))).toBe(true)
  })
})
