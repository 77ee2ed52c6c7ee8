// Promise: a bulk act says first what it would do and changes nothing; then it does it to exactly those, once each, with reason and
// actor in their events; what is refused is counted with its reason; it can be followed and stopped; two run at a time.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jobRoutes } from '../../src/http/routes/console/jobs.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createJobs, type Job, type Jobs } from '../../src/services/console/jobs.js'
import { startExecution } from '../../src/services/executions/executions.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'
import { until } from '../support/until.js'

const database = useDatabase()
const sql = (text: string, values: readonly (string | number)[] = []) => database.get().sql(text, values)
let core: TestCore
let jobs: Jobs
let api: RouteServer
const told: string[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  await registerPlaybook(core, 'tests/bulk')
  jobs = createJobs({ clock: systemClock, onChange: ({ id, state }) => told.push(`${id} ${state}`) })
  api = openRoutes(jobRoutes({ jobs, rerun: { ...core, onOpened: () => undefined } }))
})
afterAll(async () => {
  await jobs.stop(10_000)
  await api.close()
  await core.close()
})

const start = async (team: string): Promise<string> =>
  (await startExecution(core, { path: 'tests/bulk', labels: { team } })).executionId
const over = (id: string): Promise<any> =>
  until('the job is over', async () => {
    const { body } = await api.get(`/api/bulk/${id}`)
    return body.state === 'running' ? false : body
  })
const statusOf = async (ids: string[]) =>
  (await sql(`select status from noetl.execution where execution_id = any($1::bigint[])`, [`{${ids.join()}}`])).map(
    (row) => row['status'],
  )

it('shows what it would do, then does it to those alone, with reason and actor', async () => {
  const [one, two, other] = [await start('a'), await start('a'), await start('b')]
  const ask = { action: 'cancel', filter: { 'label.team': 'a' } }
  const dry = (await api.post('/api/bulk', { ...ask, dry_run: true })).body
  expect(dry).toMatchObject({ matched: 2, concerned: 2, more: false, by_status: { RUNNING: 2 } })
  expect(dry.sample.map((row: { execution_id: string }) => row.execution_id).sort()).toEqual([one, two].sort())
  expect(await statusOf([one, two])).toEqual(['RUNNING', 'RUNNING'])

  const begun = await api.post('/api/bulk', { ...ask, reason: 'wrong input' })
  expect([begun.status, begun.body.kind]).toEqual([202, 'executions.cancel'])
  expect(await over(begun.body.job_id)).toMatchObject({ state: 'done', matched: 2, done: 2, refused: 0, failed: 0 })
  expect(await statusOf([one, two])).toEqual(['CANCELLED', 'CANCELLED'])
  expect(await statusOf([other])).toEqual(['RUNNING'])
  const [event] = await sql(
    `select meta from noetl.event where execution_id = $1 and event_type = 'playbook_cancelled'`,
    [one],
  )
  expect(event!['meta']).toMatchObject({ reason: 'wrong input', actor: expect.stringMatching(/^token-/) })

  // Once more, by id: two have ended, one is unknown, one runs.
  const again = await api.post('/api/bulk', { action: 'cancel', ids: [one, two, other, '12'], reason: 'again' })
  const report = await over(again.body.job_id)
  expect(report).toMatchObject({ matched: 4, done: 1, refused: 3, failed: 0 })
  expect(report.troubles.map((row: { error: string }) => row.error).join()).toContain('already CANCELLED')
  expect((await api.get('/api/bulk')).body.jobs.map((job: { job_id: string }) => job.job_id)).toEqual([
    again.body.job_id,
    begun.body.job_id,
  ])
  expect(told).toContain(`${again.body.job_id} done`)
})

it('runs again what matched when it began, and not what it makes; at most as many as allowed', async () => {
  const [one, two] = [await start('c'), await start('c')]
  const rerun = { action: 'rerun', filter: { label: 'team=c' }, reason: 'again' }
  expect(await over((await api.post('/api/bulk', rerun)).body.job_id)).toMatchObject({ matched: 2, done: 2 })
  const limited = { action: 'finalize', filter: { label: 'team=c' }, status: 'COMPLETED', reason: 'r', limit: 3 }
  expect((await api.post('/api/bulk', { ...limited, dry_run: true })).body).toMatchObject({ matched: 3, more: true })
  expect(await over((await api.post('/api/bulk', limited)).body.job_id)).toMatchObject({ matched: 3, done: 3 })
  // The newest first: of the four one of the first two is left.
  expect((await statusOf([one, two])).sort()).toEqual(['COMPLETED', 'RUNNING'])
})

it('refuses what is not clear', async () => {
  const refused: [object, string][] = [
    [{ action: 'cancel', reason: 'r' }, 'give either ids or a filter'],
    [{ action: 'cancel', reason: 'r', ids: ['1'], filter: {} }, 'give either ids or a filter'],
    [{ action: 'cancel', filter: {} }, 'a reason is needed'],
    [{ action: 'cancel', filter: { statsu: 'FAILED' }, reason: 'r' }, 'there is no filter "statsu"'],
    [{ action: 'cancel', filter: { toString: 'x' }, reason: 'r' }, 'there is no filter "toString"'],
    ...['status', 'label', 'q'].flatMap((name): [object, string][] => [
      [{ action: 'cancel', filter: { [name]: ' ' }, reason: 'r' }, `filter.${name} leaves nothing out`],
    ]),
    [{ action: 'cancel', filter: { status: ',' }, reason: 'r' }, 'filter.status leaves nothing out'],
    [{ action: 'finalize', ids: ['1'], reason: 'r' }, 'finalize needs a status'],
    [{ action: 'delete', ids: ['1'], reason: 'r' }, 'action'],
  ]
  for (const [body, said] of refused) {
    const answer = await api.post('/api/bulk', body)
    expect([answer.status, answer.body.error], said).toEqual([400, expect.stringContaining(said)])
  }
  expect((await api.get('/api/bulk/none')).status).toBe(404)
})

it('can be stopped, and a third has to wait', async () => {
  const endless = (signal: AbortSignal): Promise<undefined> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  const about = { kind: 'test', actor: 'a', reason: null }
  const running: Job[] = [1, 2].map(() => jobs.begin(about, ({ signal }) => endless(signal)))
  const third = await api.post('/api/bulk', { action: 'cancel', ids: ['1'], reason: 'r' })
  expect([third.status, third.headers['retry-after']]).toEqual([503, '5'])
  await api.post(`/api/bulk/${running[0]!.id}/stop`)
  expect(await over(running[0]!.id)).toMatchObject({ state: 'stopped', kept: 'in this daemon, until it stops' })
  const failing = jobs.begin(about, async () => {
    throw new Error('mine')
  })
  expect(await over(failing.id)).toMatchObject({ state: 'failed', error: 'mine' })
  jobs.stopJob(running[1]!.id)
  await over(running[1]!.id)
})
