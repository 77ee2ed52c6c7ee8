// Promise: what operators see of the outbox over HTTP is what the commands show; a dry run changes nothing, and dead rows
// come back once, by an answer or by a job.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jobRoutes } from '../../src/http/routes/console/jobs.js'
import { bringBackRoutes } from '../../src/http/routes/outbox/bringBack.js'
import { outboxOperationRoutes } from '../../src/http/routes/outbox/operations.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createJobs } from '../../src/services/console/jobs.js'
import { cli } from '../support/cli.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'
import { until } from '../support/until.js'

const database = useDatabase()
const jobs = createJobs({ clock: systemClock })
let core: TestCore
let api: RouteServer
let executionId: string

beforeAll(async () => {
  core = await openCore([database.get()])
  api = openRoutes([
    ...outboxOperationRoutes({ outbox: core }),
    ...bringBackRoutes({ outbox: core, jobs }),
    ...jobRoutes({ jobs, rerun: { ...core, onOpened: () => undefined } }),
  ])
  executionId = await plantExecution(database.get(), { atMs: Date.parse('2026-03-01T10:00:00Z'), events: 5 })
  await database.get().sql(
    `insert into noetl.outbox (execution_id, event_id, subject, payload, status, attempts, last_error, available_at)
     select $1::bigint, $1::bigint + n, 's', '{"password": "hunter22"}', case when n < 4 then 'DEAD' else 'FAILED' end, 9,
       case when n = 1 then 'no responders' when n < 4 then 'too large' else 'busy' end, now() + interval '1 hour'
     from generate_series(1, 5) as n`,
    [executionId],
  )
})
afterAll(async () => {
  await jobs.stop(10_000)
  await api.close()
  await core.close()
})

const command = async (args: string[]) => {
  const ran = await cli([...args, '--json'], { env: { NOETL_DATABASE_URL: database.get().url } })
  expect(ran.code, ran.stderr).toBe(0)
  return JSON.parse(ran.stdout)
}
const dead = async () => (await api.get('/api/internal/outbox/dead')).body.rows.map((row: any) => row.outbox_id)

it('counts and lists as the commands do, page by page', async () => {
  const [shard] = (await api.get('/api/internal/outbox/status')).body.shards
  expect(shard).toMatchObject({ shard: 0, dead: 3, error: null })
  expect(shard.backlog.failed_waiting).toBe(2)
  const listed = (await command(['outbox', 'list', '--execution', executionId])).rows.map((row: any) =>
    String(row.outbox_id),
  )
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: any = (await api.get(`/api/internal/outbox/rows?execution_id=${executionId}&limit=2${query}`)).body
    ids.push(...page.rows.map((row: any) => row.outbox_id))
    cursor = page.next_cursor
  }
  expect(ids).toEqual(listed)
  const row = await api.get(`/api/internal/outbox/rows/${ids[0]}`)
  expect(row.body).toMatchObject({ status: 'DEAD', last_error: 'no responders', execution_id: executionId })
  expect(row.text).not.toContain('hunter22')
  expect((await api.get('/api/internal/outbox/rows/999999')).status).toBe(404)
  const groups = async () => (await api.get('/api/internal/outbox/dead/groups')).body
  expect(await groups()).toMatchObject({
    groups: [
      { reason: 'too large', count: 2 },
      { reason: 'no responders', count: 1, outbox_id: ids[0] },
    ],
    more: false,
  })
  const { sql } = database.get()
  await sql(`insert into noetl.outbox (execution_id, event_id, subject, payload, status, last_error)
    select 1, n, 's', '{}', 'DEAD', 'of ' || n || ' bytes' from generate_series(1, 99) n`)
  const many = await groups()
  expect([many.groups.length, many.groups[0].reason, many.more]).toEqual([100, 'too large', true])
  await sql('delete from noetl.outbox where execution_id = 1')
})

it('brings many back as a job, which says how many and which', async () => {
  const before = await dead()
  const order = { reason: 'responders', as_job: true, note: 'the stream is back' }
  const dry = await api.post('/api/internal/outbox/redrive', { ...order, dry_run: true })
  expect([dry.status, dry.body.matched]).toEqual([200, 1])
  const begun = await api.post('/api/internal/outbox/redrive', order)
  expect([begun.status, begun.body.kind, begun.body.reason]).toEqual([202, 'outbox.redrive', 'the stream is back'])
  const job = await until('the job is over', async () => {
    const { body } = await api.get(`/api/bulk/${begun.body.job_id}`)
    return body.state === 'running' ? false : body
  })
  expect(job).toMatchObject({ state: 'done', matched: 1, done: 1, refused: 0, failed: 0, report: { more: false } })
  expect(job.report.sample.map((row: any) => row.outbox_id)).toEqual(before.slice(0, 1))
  expect(await dead()).toEqual(before.slice(1))
  await database
    .get()
    .sql(`update noetl.outbox set status = 'DEAD', last_error = 'no responders' where outbox_id = $1`, [before[0]])
})

it('brings dead rows back once; a dry run changes nothing; a failed row need not wait', async () => {
  const before = await dead()
  const asked = { reason: 'too large', dry_run: true }
  const dry = (await api.post('/api/internal/outbox/redrive', asked)).body
  expect(dry).toMatchObject({ dry_run: true, matched: 2, done: 0, more: false })
  expect(dry.sample.map((row: any) => row.outbox_id)).toEqual(before.slice(1))
  expect(await dead()).toEqual(before)
  const redrive = (body: object) => api.post('/api/internal/outbox/redrive', body)
  expect((await redrive({ reason: 'too large' })).body).toMatchObject({ matched: 2, done: 2 })
  expect((await redrive({ reason: 'too large' })).body).toMatchObject({ matched: 0, done: 0 })
  expect((await redrive({ ids: [before[0]], execution_id: executionId })).body).toMatchObject({ done: 1 })
  expect(await dead()).toEqual([])
  expect((await api.post('/api/internal/outbox/retry', { execution_id: executionId })).body).toEqual({ done: 2 })
  expect((await redrive({ ids: ['x'] })).status).toBe(400)
})
