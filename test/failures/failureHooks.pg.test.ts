// Promise: an execution that failed starts the playbook, or calls the address, that its playbook or the setting names: at
// least once, recorded, tried again a bounded number of times, and never in a circle.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createPool } from '../../src/db/pool.js'
import { ENGINE_VERSION } from '../../src/domain/engine/settings.js'
import type { ExecutionId } from '../../src/domain/ids/ids.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import type { CpError } from '../../src/errors.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { endExecution, startExecution } from '../../src/services/executions/executions.js'
import { createFailureHooks, type FailureHooksDeps } from '../../src/services/failures/failureHooks.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const database = useDatabase()
let core: TestCore
let calls: { address: string; headers: JsonObject; body: JsonObject }[] = []
let refusals = 0
const errors: CpError[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
})
afterAll(() => core.close())
beforeEach(async () => {
  calls = []
  refusals = 0
  await database.get().sql('delete from noetl.failure_hook', [])
  await database.get().sql('delete from noetl.execution', [])
})

const hooks = (more: Partial<FailureHooksDeps> = {}) => createFailureHooks(hookDeps(more), core.databases.shards[0]!)

const hookDeps = (more: Partial<FailureHooksDeps> = {}, of: TestCore = core): FailureHooksDeps => ({
  ...of,
  engine: ENGINE_VERSION,
  random: Math.random,
  fallback: undefined,
  call: async (address, headers, body) => {
    calls.push({ address, headers, body })
    if (refusals-- > 0) throw new Error('not now')
  },
  onError: (error) => errors.push(error),
  ...more,
})

async function register(path: string, metadata = ''): Promise<void> {
  await registerEntry(core, {
    content: `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: f, path: ${path}${metadata}}\nworkflow: [{step: one, tool: {kind: noop}}]\n`,
  })
}

async function fails(path: string, parentExecutionId?: string): Promise<string> {
  const { executionId } = await startExecution({ ...core, engine: ENGINE_VERSION }, { path, parentExecutionId })
  return end(executionId)
}

async function end(executionId: string): Promise<string> {
  await endExecution(core, { executionId: executionId as ExecutionId, outcome: 'FAILED', error: 'step "one": no' })
  return executionId
}

interface Row {
  state: string
  attempts: number
  started: string | null
  error: string | null
}

async function rowOf(executionId: string): Promise<Row | undefined> {
  const [row] = await database
    .get()
    .sql<Row>(
      'select state, attempts, started_execution_id::text as started, error from noetl.failure_hook where execution_id = $1::bigint',
      [executionId],
    )
  return row
}

const dueNow = () => database.get().sql('update noetl.failure_hook set due_at = now()', [])

it('starts the playbook of metadata.on_failure once, with what failed, and nothing when that one fails, too', async () => {
  await register('failures/mend', ', on_failure: failures/mend')
  await register('failures/job', ', on_failure: {playbook: failures/mend, payload: {team: night}}')
  const id = await fails('failures/job')
  const one = hooks()
  // One may note what the other deals with.
  await Promise.all([one.pass(), hooks().pass()])
  const { state, started } = (await rowOf(id))!
  expect(
    await database.get().sql(`select execution_id::text as id from noetl.execution where path = 'failures/mend'`, []),
  ).toEqual([{ id: started }])
  expect([state, started]).toEqual(['DONE', expect.stringMatching(/^\d+$/)])
  const [start] = await database
    .get()
    .sql<{ workload: JsonObject }>(
      `select context->'workload' as workload from noetl.event where execution_id = $1::bigint and event_type = 'playbook_started'`,
      [started!],
    )
  expect(start!.workload).toMatchObject({
    team: 'night',
    failed: { execution_id: id, path: 'failures/job', error: 'step "one": no' },
  })
  await end(started!)
  expect(await one.pass()).toBe(1)
  expect(await rowOf(started!)).toMatchObject({ state: 'NONE', started: null })
  expect(await one.pass()).toBe(0)
})

it('calls the address, again after a refusal, and gives up in the end', async () => {
  await register('failures/told', ', on_failure: {webhook: "http://hooks.example/x", headers: {X-Team: night}}')
  const id = await fails('failures/told')
  refusals = 1
  const one = hooks()
  await one.pass()
  expect(await rowOf(id)).toMatchObject({ state: 'PENDING', attempts: 1, error: 'not now' })
  expect(await one.pass(), 'not before its time').toBe(0)
  await dueNow()
  await one.pass()
  expect(await rowOf(id)).toMatchObject({ state: 'DONE', attempts: 2, error: null })
  expect(calls).toHaveLength(2)
  expect(calls[1]).toMatchObject({
    address: 'http://hooks.example/x',
    headers: { 'X-Team': 'night', 'Idempotency-Key': `on-failure-${id}` },
    body: { execution_id: id, status: 'FAILED', error: 'step "one": no' },
  })
  const never = await fails('failures/told')
  refusals = 100
  for (let attempt = 0; attempt < 10; attempt++) {
    await one.pass()
    await dueNow()
  }
  expect(await rowOf(never)).toMatchObject({ state: 'GIVEN_UP', attempts: 8, error: 'not now' })
})

it('does what the setting says for playbooks that name nothing, but not for playbooks that others have started', async () => {
  await register('failures/plain')
  const id = await fails('failures/plain')
  const child = await fails('failures/plain', id)
  expect(await hooks().pass(), 'no hook, no row').toBe(0)
  await hooks({ fallback: { webhook: 'https://hooks.example/all', headers: {} } }).pass()
  expect(calls.map(({ body }) => body['execution_id'])).toEqual([id])
  expect(await rowOf(child)).toBeUndefined()
})

it('is refused when it is neither a playbook nor an address', async () => {
  await expect(register('failures/wrong', ', on_failure: {webhook: "ftp://x"}')).rejects.toThrow('/metadata/on_failure')
  await expect(register('failures/wrong', ', on_failure: [1]')).rejects.toThrow('{playbook, payload}')
})

it('a shard that is away holds up no hook of the others', async () => {
  await register('failures/sharded', ', on_failure: {webhook: "http://hooks.example/x"}')
  const id = await fails('failures/sharded')
  const { target } = database.get().settings
  const proxy = await startTcpProxy(target.host, target.port)
  proxy.setMode('blackhole')
  const away = createPool({
    ...database.get().settings,
    target: { ...target, host: '127.0.0.1', port: proxy.port },
    ...{ max: 1, acquireTimeoutMs: 600_000, connectTimeoutMs: 600_000, queryTimeoutMs: 600_000 },
  })
  const there = core.databases.shards[0]!
  const loops = [{ ...there, label: 'away', db: away }, there].map((shard) => createFailureHooks(hookDeps(), shard))
  try {
    for (const loop of loops) await loop.start()
    await until('the hook of the shard that is there', () => calls.some(({ body }) => body['execution_id'] === id))
  } finally {
    proxy.reset()
    await Promise.all([...loops.map((loop) => loop.stop(5_000)), away.close(1_000)])
    await proxy.close()
  }
})

it('hears of every failure, however many there were before it first looked', async () => {
  await register('failures/many', ', on_failure: {webhook: "http://hooks.example/x"}')
  const id = await fails('failures/many')
  await database.get().sql(
    `insert into noetl.execution (execution_id, catalog_id, path, status, start_time, end_time, tenant_id, organization_id, engine)
     select execution_id + n, catalog_id, path, status, start_time, now() - interval '2 hours', tenant_id, organization_id, engine
     from noetl.execution, generate_series(1, 250) as n where execution_id = $1::bigint`,
    [id],
  )
  const one = hooks()
  for (let pass = 0; pass < 4; pass++) await one.pass()
  expect(calls).toHaveLength(251)
})
