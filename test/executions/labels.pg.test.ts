// Promise: labels given at a start are in its start event and in the read model, by whichever way the event comes in; an
// execution is found by its labels and by the workers of its commands, through an index; what is no label is refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLabels, readLabelTexts } from '../../src/domain/executions/labels.js'
import { executeRoutes } from '../../src/http/routes/executions/execute.js'
import { executionRoutes } from '../../src/http/routes/executions/executions.js'
import { rerunRoutes } from '../../src/http/routes/executions/rerun.js'
import { createEntryNames } from '../../src/services/catalog/entryNames.js'
import { adoptExecution } from '../../src/services/events/adoption.js'
import { rerunExecution } from '../../src/services/executions/rerun.js'
import { createStepProgress } from '../../src/services/executions/stepProgress.js'
import { cli } from '../support/cli.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'

const database = useDatabase()
const sql = (text: string, values: readonly (string | number)[] = []) => database.get().sql(text, values)
let core: TestCore
let api: RouteServer
let env: Record<string, string>

beforeAll(async () => {
  core = await openCore([database.get()])
  env = { NOETL_DATABASE_URL: database.get().url }
  await registerPlaybook(core, 'tests/labels')
  const queries = {
    databases: core.databases,
    stepProgress: createStepProgress(),
    entryNames: createEntryNames(core.databases),
  }
  const wholeEvents = { databases: core.databases, shownEvent: () => Promise.reject(new Error('not asked')) }
  api = openRoutes([
    ...executeRoutes({ executions: core }),
    ...rerunRoutes({ rerun: core }),
    ...executionRoutes({ queries, wholeEvents, pageBytes: 1_000_000, executions: core, clock: core.clock }),
  ])
})
afterAll(async () => {
  await api.close()
  await core.close()
})

const listed = async (query: string): Promise<string[]> => {
  const { status, body } = await api.get(`/api/executions?ids=string&${query}`)
  expect(status, query).toBe(200)
  return body.map((row: { execution_id: string }) => row.execution_id)
}

describe('labels', () => {
  it('are kept in the start event and found by route and command, alone and in a batch', async () => {
    const one = (await api.post('/api/execute', { path: 'tests/labels', labels: { team: 'a b', 'order.id': '17=x' } }))
      .body
    const batch = await api.post('/api/execute/batch', {
      executions: [
        { path: 'tests/labels', labels: { team: 'b' } },
        { path: 'tests/labels', labels: { team: 7 } },
      ],
    })
    expect(batch.body).toMatchObject({ started: 1, failed: 1 })
    expect(batch.body.results[1].error).toBe('labels: the value of team must be a text')
    const two = batch.body.results[0].execution_id
    expect(await listed('label.team=b')).toEqual([two])
    expect(await listed('label=team=a%20b,order.id=17%3Dx')).toEqual([one.execution_id])
    expect(await listed('label.team=b&label.order.id=17%3Dx')).toEqual([])
    const [event] = await sql(`select meta -> 'labels' as labels from noetl.event where execution_id = $1`, [two])
    expect(event!['labels']).toEqual({ team: 'b' })
    expect((await api.get(`/api/executions/${two}?events=0`)).body.labels).toEqual({ team: 'b' })
    expect((await api.get('/api/executions?label=team')).status).toBe(400)

    const third = await cli(['execution', 'start', 'tests/labels', '--label', 'team=c', '--label', 'env=x'], { env })
    const id = third.stdout.trim()
    const found = await cli(['execution', 'list', '--label', 'env=x', '--label', 'team=c', '--json'], { env })
    expect(JSON.parse(found.stdout).executions).toMatchObject([{ execution_id: id, labels: { team: 'c', env: 'x' } }])
    expect((await cli(['execution', 'show', id], { env })).stdout).toContain('env=x team=c')
    const refused = await cli(['execution', 'start', 'tests/labels', '--label', 'team'], { env })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--label must be key=value')])

    const deps = { ...core, onOpened: () => undefined }
    const again = await rerunExecution(deps, { executionId: id as never })
    expect(await listed('label.env=x')).toEqual([again.executionId, id])
  })

  it('run again with other values, deep ones too, that leave the rest as it was', async () => {
    const payload = { a: { b: 1, c: 2, list: [1, 2] }, t: { text: '{{ x }}', n: 1 }, keep: true }
    const first = await api.post('/api/execute', { path: 'tests/labels', payload })
    const rerun = (body: object) => api.post(`/api/executions/${first.body.execution_id}/rerun`, body)
    const again = await rerun({ workload: { d: { e: 1 } }, set: { 'a.b': 7, 'workload.a.list.1': 9, 'd.f': 2 } })
    const [start] = await database
      .get()
      .sql<{ workload: unknown }>(
        `select context -> 'workload' as workload from noetl.event where execution_id = $1::bigint`,
        [String(again.body.execution_id)],
      )
    expect(start!.workload).toEqual({
      ...payload,
      a: { b: 7, c: 2, list: [1, 9] },
      d: { e: 1, f: 2 },
    })
    expect((await rerun({ set: { 'a.list.5': 1 } })).body.error).toContain('has no item')
    expect((await rerun({ set: { 't.n': 2 } })).body.error).toContain('would stay text')
    expect((await rerun({ set: { 'a..b': 1 } })).status).toBe(400)
    // What is larger would be read while everybody waits.
    expect((await rerun({ workload: { text: 'x'.repeat(70_000) } })).status).toBe(413)
  })

  it('come with a start that is late or was written by others', async () => {
    const late = await plantExecution(database.get(), { atMs: Date.parse('2026-03-01T10:00:00Z'), events: 1 })
    const event = {
      executionId: late as never,
      eventId: core.ids.next() as never,
      eventType: 'playbook_started',
      meta: { labels: { from: 'late', 'no key': 'x', number: 5 } },
      tenantId: 'default',
      organizationId: 'default',
      createdAt: '2026-03-01T10:00:00.000000+00:00' as never,
      createdAtGiven: true,
    }
    await core.appender.append([{ event, idGiven: true, publish: false, createExecution: false }])
    expect(await listed('label.from=late')).toEqual([late])
    const foreign = await plantExecution(database.get(), { atMs: Date.now(), events: 1, foreign: true })
    await sql(
      `update noetl.event set event_type = 'playbook_started', meta = '{"labels": {"from": "others"}}' where execution_id = $1`,
      [foreign],
    )
    await adoptExecution(core.databases.of(foreign), foreign)
    expect(await listed('label.from=others')).toEqual([foreign])
  })

  it('are bounded, and what is none is named', () => {
    const refused: [unknown, string][] = [
      [['a'], 'labels must be a map'],
      [{ 'a b': 'x' }, 'unlike "a b"'],
      [{ a: '' }, 'the value of a must have 1 to 256 characters'],
      [{ a: 'x'.repeat(257) }, 'the value of a must have 1 to 256 characters'],
      [{ a: 'x\ny' }, 'the value of a must not contain control characters'],
      [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, 'v'])), 'at most 32 labels, not 33'],
    ]
    for (const [given, said] of refused) expect(() => readLabels(given as never, 'labels'), said).toThrow(said)
    expect(() => readLabelTexts(['a=1', 'a=2'], '--label')).toThrow('the label a is given twice')
    expect(readLabelTexts(['a=1=2'], '--label')).toEqual({ a: '1=2' })
  })
})

describe('among many executions', () => {
  it('labels and workers are looked up, not searched for', async () => {
    await sql(
      `insert into noetl.execution (execution_id, catalog_id, status, start_time, path, labels)
       select n, 1, 'COMPLETED', now() - n * interval '1 s', 'many', jsonb_build_object('order', n::text, 'team', 't' || n % 3)
       from generate_series(1, 12000) n`,
    )
    await sql(
      `insert into noetl.command (command_id, event_id, execution_id, catalog_id, command_key, step_name, tool_kind, status, worker_id)
       select n, n, n, 1, 'c', 's', 'python', 'COMPLETED', 'w' || n % 2000 from generate_series(1, 12000) n`,
    )
    await sql('analyze noetl.execution')
    await sql('analyze noetl.command')
    expect(await listed('label.order=777')).toEqual(['777'])
    expect(await listed('label.order=777&label.team=t1')).toEqual([])
    expect(await listed('worker=w1999&limit=3')).toEqual(['1999', '3999', '5999'])
    expect(await listed('worker=nobody')).toEqual([])
    const plan = async (where: string) =>
      (await sql(`explain select execution_id from noetl.execution where ${where}`))
        .map((row) => row['QUERY PLAN'])
        .join('\n')
    expect(await plan(`labels @> '{"order": "777"}'`)).toContain('execution_labels_idx')
    expect(
      await plan(
        `execution_id = any(array(select distinct c.execution_id from noetl.command c where c.worker_id = 'w5'))`,
      ),
    ).toContain('_worker_id_execution_id_idx')
  })
})
