// Promise: over HTTP operators compare outbox and stream, take, check and rebuild snapshots, and check logs; nobody else does, and
// what they did is in the activity. The daemon ends in time with a stream open.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const database = useDatabase()
let stream: TestStream
let daemon: Daemon
let id: string

beforeAll(async () => {
  stream = await useStream(inject('servers'))
  daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.get().url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN, ...stream.env },
  })
  await ask('POST', '/api/catalog/register', { content: playbook('tests/jobs') })
  id = (await ask('POST', '/api/execute', { path: 'tests/jobs', driven: false })).body.execution_id
})
afterAll(async () => {
  await daemon?.stop()
  await stream?.close()
})

async function ask(method: string, path: string, body?: object, token: string | null = INTERNAL_TOKEN) {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as any }
}

const over = (job: string): Promise<any> =>
  until('the job is over', async () => {
    const { body } = await ask('GET', `/api/bulk/${job}`)
    return body.state === 'running' ? false : body
  })

it('compares the outbox with the stream', async () => {
  await until('the start is published', async () => {
    const [row] = await database.get().sql(`select count(*)::int as n from noetl.outbox where status <> 'PUBLISHED'`)
    return row!['n'] === 0
  })
  expect((await ask('POST', '/api/internal/outbox/audit', {}, null)).status).toBe(403)
  const begun = await ask('POST', '/api/internal/outbox/audit', { note: 'after the power cut' })
  expect(begun.status).toBe(202)
  const job = await over(begun.body.job_id)
  expect(job).toMatchObject({
    kind: 'outbox.audit',
    state: 'done',
    reason: 'after the power cut',
    report: { stream_exists: true, complete: true, missing: 0, sample: [] },
  })
  expect(job.report.checked).toBeGreaterThan(0)
})

it('takes, lists, checks and rebuilds snapshots, and checks logs', async () => {
  expect((await ask('POST', `/api/internal/snapshots/${id}/take`, undefined, null)).status).toBe(403)
  const taken = await ask('POST', `/api/internal/snapshots/${id}/take`)
  expect(taken.body).toMatchObject({
    stored: true,
    event_count: '1',
    checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(await ask('POST', `/api/internal/snapshots/${id}/rebuild`)).toMatchObject({
    status: 200,
    body: { version: 1 },
  })
  expect((await ask('POST', `/api/internal/snapshots/${id}/verify`)).body).toMatchObject({ found: true, ok: true })
  expect((await ask('POST', '/api/internal/snapshots/12/verify')).status).toBe(404)
  const all = (await ask('GET', `/api/snapshots?execution_id=${id}`, undefined, null)).body
  expect(all.snapshots.map((row: { type: string }) => row.type)).toHaveLength(2)
  expect(all).toMatchObject({ next_after: null, failed_shards: [] })
  expect(all.snapshots.find((row: { behind: string | null }) => row.behind !== null)).toMatchObject({ behind: '0' })
  const first = (await ask('GET', '/api/snapshots?limit=1')).body
  expect(
    (await ask('GET', `/api/snapshots?limit=1&after=${encodeURIComponent(first.next_after)}`)).body.snapshots,
  ).toEqual(all.snapshots.filter((row: { name: string }) => row.name !== first.snapshots[0].name))
  expect((await ask('GET', '/api/snapshots?type=replay')).body.snapshots).toHaveLength(1)
  const begun = await ask('POST', '/api/replay/verify', { limit: 10 })
  expect(await over(begun.body.job_id)).toMatchObject({
    state: 'done',
    refused: 0,
    failed: 0,
    report: { checked: 1, agreed: 1, different: 0, more: false },
  })
  expect((await ask('POST', '/api/internal/snapshots/prune', {})).status).toBe(400)
  // What a crash has left of an execution that is gone.
  await database.get().sql(
    `insert into noetl.projection_snapshot
     select (jsonb_populate_record(kept, '{"aggregate_id": "12"}')).* from noetl.projection_snapshot as kept
     where aggregate_type = 'cp_workflow_state'`,
  )
  const pruned = await ask('POST', '/api/internal/snapshots/prune', { reason: 'the disk is full' })
  expect(await over(pruned.body.job_id)).toMatchObject({
    state: 'done',
    done: 1,
    failed: 0,
    reason: 'the disk is full',
  })
  const { snapshots } = (await ask('GET', '/api/snapshots?type=state')).body
  expect(snapshots.map((row: { name: string }) => row.name)).toEqual([id])
})

it('is begun, watched and told by the command, which does nothing to more than was expected', async () => {
  const ids: string[] = []
  for (let made = 0; made < 3; made++)
    ids.push((await ask('POST', '/api/execute', { path: 'tests/jobs', driven: false })).body.execution_id)
  const bulk = async (...words: string[]) => {
    const ran = await builtCli(['bulk', ...words, '--url', daemon.url, '--token', INTERNAL_TOKEN, '--json'], {})
    return { ...ran, json: ran.code === 2 ? undefined : JSON.parse(ran.stdout || 'null') }
  }
  const which = ['--status', 'RUNNING', '--path', 'tests/*']
  const isRunning = async () => (await ask('GET', '/api/executions?status=RUNNING')).body.length
  const before = await isRunning()
  const plan = await bulk('cancel', ...which, '--dry-run')
  expect(plan, plan.stderr).toMatchObject({ code: 0, json: { dry_run: true, matched: before, concerned: before } })
  for (const words of [
    [...which, '--yes'],
    [...which, '--reason', 'tests'],
    ['--reason', 'tests', '--yes'],
    [...which, ...ids, '--reason', 'tests', '--yes'],
  ])
    expect([words, (await bulk('cancel', ...words)).code]).toEqual([words, 2])
  const other = await bulk('cancel', ...which, '--reason', 'tests', '--yes', '--expect', String(before + 1))
  expect([other.code, other.stderr]).toEqual([4, expect.stringContaining(`${before} match, not ${before + 1}`)])
  expect(await isRunning()).toBe(before)

  const done = await bulk('cancel', ids[0]!, ids[1]!, '--reason', 'tests', '--yes', '--expect', '2')
  expect(done, done.stderr).toMatchObject({
    code: 0,
    json: { kind: 'executions.cancel', state: 'done', reason: 'tests', matched: 2, done: 2, refused: 0, failed: 0 },
  })
  expect(await isRunning()).toBe(before - 2)
  // One of them has ended already.
  const half = await bulk('finalize', ids[1]!, ids[2]!, '--as', 'completed', '--reason', 'tests', '--yes')
  expect(half, half.stderr).toMatchObject({ code: 4, json: { done: 1, refused: 1, troubles: [{ target: ids[1] }] } })
  expect((await ask('GET', `/api/executions/${ids[2]}/status`)).body.status).toBe('COMPLETED')
  expect(await bulk('show', half.json.job_id)).toMatchObject({ code: 4, json: half.json })
  expect((await bulk('list')).json.jobs[0]).toEqual(half.json)
  expect((await bulk('stop', half.json.job_id)).code).toBe(0)
  expect((await bulk('show', 'nothing')).code).toBe(3)
})

it('shows pools and lanes of the overview as the commands do', async () => {
  await ask('POST', '/api/worker/pool/register', { name: 'tests', labels: { pool_name: 'tests' } })
  const env = { NOETL_DATABASE_URL: database.get().url, ...stream.env }
  const shown = async (...words: string[]) => JSON.parse((await builtCli([...words, '--json'], { env })).stdout)
  // Lanes change hands while daemons come and go; both looks are of one moment when they agree.
  const overview = await until('both say the same', async () => {
    const { body } = await ask('GET', '/api/overview')
    const [told] = (await shown('outbox', 'status')).shards
    const owners = body.shards[0].owners.map(({ lease_seconds: _, ...owner }: Record<string, unknown>) => owner)
    const isSame = JSON.stringify(owners) === JSON.stringify(told.lanes) && owners.length > 0
    return isSame && owners[0].lanes === 64 ? body : false
  })
  expect(overview.shards[0].owners[0].slots).toEqual(Array.from({ length: 64 }, (_, lane) => lane))
  const all = Array.from({ length: 64 }, () => expect.any(Number))
  const driver = await until('somebody drives', async () => (await ask('GET', '/api/overview')).body.drivers[0])
  expect(driver).toMatchObject({ shard: 0, lanes: 64, live: true, lease_seconds: all })
  expect(Math.min(...driver.lease_seconds, ...overview.shards[0].owners[0].lease_seconds)).toBeGreaterThan(0)

  const { workers } = await shown('worker', 'list', '--all')
  const pools = (await ask('GET', '/api/overview')).body.pools.filter(
    ({ kind }: { kind: string }) => kind === 'worker_pool',
  )
  const told = ({ name, alive, capacity }: Record<string, unknown>) => ({ name, alive, capacity })
  const byName = (left: { name: unknown }, right: { name: unknown }) =>
    String(left.name).localeCompare(String(right.name))
  expect(pools.map(told).toSorted(byName)).toEqual(workers.map(told).toSorted(byName))
  expect(pools.map(({ name }: { name: string }) => name)).toContain('tests')
})

it('is on record, and an open stream holds nobody up', async () => {
  const { activity } = (await ask('GET', '/api/activity')).body
  const said = activity.map(({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`)
  expect(said).toContain('outbox.audit done')
  expect(said).toContain('snapshots.take done')
  const open = await fetch(new URL('/api/stream?topics=overview', daemon.url))
  const text = open.text()
  const ended = await daemon.stop()
  expect(ended.code).toBe(0)
  expect(await text).toContain('the daemon is stopping')
})
