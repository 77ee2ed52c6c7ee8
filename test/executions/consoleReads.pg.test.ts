// Promise: a window of events is exactly the log between two places, forwards and backwards, whatever is looked for; one
// event comes whole or cut to a size; the list and its histogram answer the same question as `execution list`; a small timeline of
// each tells its steps, at the same price for a log of any length.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventWindowRoutes } from '../../src/http/routes/executions/eventWindow.js'
import { executionRoutes } from '../../src/http/routes/executions/executions.js'
import { histogramRoutes } from '../../src/http/routes/executions/histogram.js'
import { originRoutes } from '../../src/http/routes/executions/origin.js'
import { timelineRoutes } from '../../src/http/routes/executions/timelines.js'
import { createEntryNames } from '../../src/services/catalog/entryNames.js'
import { shownEvent } from '../../src/services/events/inThread/shownEvent.js'
import { executionHistogram } from '../../src/services/executions/histogram.js'
import { createStepProgress, type StepProgress } from '../../src/services/executions/stepProgress.js'
import { cli } from '../support/cli.js'
import { openCore, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { plantExecution } from '../support/executions.js'
import { openRoutes, type RouteServer } from '../support/routeServer.js'

const database = useDatabase()
const sql = (text: string, values: readonly (string | number)[] = []) => database.get().sql(text, values)
const progress = createStepProgress()
/** Whose steps were counted, which reads the log. */
const counted: string[] = []
let core: TestCore
let api: RouteServer

beforeAll(async () => {
  core = await openCore([database.get()])
  const queries = {
    databases: core.databases,
    stepProgress: ((...asked) => {
      counted.push(asked[1])
      return progress(...asked)
    }) as StepProgress,
    entryNames: createEntryNames(core.databases),
  }
  const deps = {
    queries,
    clock: core.clock,
    executions: core,
    pageBytes: 1_000_000,
    wholeEvents: {
      databases: core.databases,
      shownEvent: async (text: string, part: Parameters<typeof shownEvent>[0]['part']) =>
        shownEvent({ text, part, secretNames: ['password'] }),
    },
  }
  api = openRoutes([
    ...executionRoutes(deps),
    ...eventWindowRoutes(deps),
    ...histogramRoutes(deps),
    ...timelineRoutes(deps),
    ...originRoutes(deps),
  ])
})
afterAll(async () => {
  await api.close()
  await core.close()
})

const START = Date.parse('2026-03-01T10:00:00Z')

describe('what an execution is', () => {
  it('is told without reading its log, where that is long and nobody asks for events, or it has ended', async () => {
    const id = await plantExecution(database.get(), { atMs: START, events: 4 })
    const countedFor = async (query: string, status: string, events: number) => {
      counted.length = 0
      await sql('update noetl.execution set status = $2, event_count = $3 where execution_id = $1', [
        id,
        status,
        events,
      ])
      const { body } = await api.get(`/api/executions/${id}${query}`)
      expect(body).toMatchObject({ status, progress: status === 'COMPLETED' ? 100 : 0 })
      return counted.length
    }
    expect(await countedFor('?events=0', 'RUNNING', 20_000)).toBe(0)
    expect(await countedFor('?events=0', 'COMPLETED', 4)).toBe(0)
    expect(await countedFor('', 'COMPLETED', 4)).toBe(0)
    expect(await countedFor('?events=0', 'RUNNING', 4)).toBe(1)
    expect(await countedFor('', 'RUNNING', 20_000)).toBe(1)
  })
})

describe('a window of events', () => {
  let id: string
  beforeAll(async () => {
    id = await plantExecution(database.get(), { atMs: START, events: 10 })
    await sql(
      `update noetl.event set node_name = 'fetch', status = 'FAILED', error = 'no 100% luck' where execution_id = $1 and event_id = $1::bigint + 4`,
      [id],
    )
    await sql(
      `update noetl.event set event_type = 'command.issued', node_name = 'fetch', status = 'started' where execution_id = $1 and event_id in ($1::bigint + 7, $1::bigint + 9)`,
      [id],
    )
  })
  const at = (place: number) => String(BigInt(id) + BigInt(place))
  const places = async (query: string) => {
    const { status, body } = await api.get(`/api/executions/${id}/events?${query}`)
    expect(status, query).toBe(200)
    for (const event of body.events) expect(event.event_id).toBe(at(event.position))
    return { total: body.total, places: body.events.map((event: { position: number }) => event.position) }
  }

  it('is the log between two places, both ways', async () => {
    expect(await places('from=1&limit=3')).toEqual({ total: 10, places: [1, 2, 3] })
    expect(await places('from=9&limit=3')).toEqual({ total: 10, places: [9, 10] })
    expect(await places('from=1&limit=3&order=desc')).toEqual({ total: 10, places: [10, 9, 8] })
    expect(await places('from=9&limit=3&order=desc')).toEqual({ total: 10, places: [2, 1] })
    expect(await places('from=11')).toEqual({ total: 10, places: [] })
    expect(await places('limit=0')).toEqual({ total: 10, places: [] })
  })

  it('is counted among what matches, and each keeps its place in the log', async () => {
    expect(await places('type=command.issued')).toEqual({ total: 2, places: [7, 9] })
    expect(await places('step=fetch,other&order=desc&limit=2')).toEqual({ total: 3, places: [9, 7] })
    expect(await places('status=failed,STARTED&from=2&limit=1')).toEqual({ total: 3, places: [7] })
    expect(await places('step=fetch&type=step.enter')).toEqual({ total: 1, places: [4] })
    expect(await places(`q=${encodeURIComponent('100% L')}`)).toEqual({ total: 1, places: [4] })
    expect(await places('q=1%25x')).toEqual({ total: 0, places: [] })
    expect(await places(`q=${at(5)}`)).toEqual({ total: 1, places: [5] })
  })

  it('of an unknown execution is 404, and nonsense is 400', async () => {
    expect((await api.get('/api/executions/12/events')).status).toBe(404)
    expect((await api.get(`/api/executions/${id}/events?from=0`)).status).toBe(400)
    expect((await api.get(`/api/executions/${id}/events?order=up`)).status).toBe(400)
  })
})

describe('one event', () => {
  it('comes in parts: whole without losing a digit, or cut, never inside a character, secrets hidden first', async () => {
    const id = await plantExecution(database.get(), { atMs: START, events: 1 })
    const event = String(BigInt(id) + 1n)
    const result = '{"big": 12345678901234567890, "name": "ééé", "password": "hunter22"}'
    await sql(`update noetl.event set result = $2::text::jsonb where execution_id = $1`, [id, result])
    const path = `/api/executions/${id}/events/${event}`
    const whole = await api.get(`${path}?part=result&ids=number`)
    expect(whole.text).toContain('12345678901234567890')
    expect(whole.text).not.toContain('hunter22')
    const total = Buffer.byteLength(whole.text)
    const head = await api.get(`${path}?part=result&bytes=${total - 1}`)
    expect(head.body).toEqual({ part: 'result', total_bytes: total, is_cut: true, text: whole.text.slice(0, -1) })
    const cut = whole.text.indexOf('é') + 1
    expect((await api.get(`${path}?part=result&bytes=${cut}`)).body.text).toBe(whole.text.slice(0, cut - 1))
    expect((await api.get(`${path}?part=result&bytes=100000`)).body).toMatchObject({ is_cut: false, text: whole.text })
    expect((await api.get(`${path}?part=error`)).status).toBe(404)
    expect((await api.get(`${path}?bytes=5`)).status).toBe(400)
    expect((await api.get(`/api/executions/${id}?events=0`)).body).toMatchObject({
      events: [],
      pagination: { total_events: 1 },
    })
  })
})

describe('the list and its histogram', () => {
  let ids: string[]
  let parent: string
  beforeAll(async () => {
    await sql('delete from noetl.execution')
    const plant = (minute: number, status: 'COMPLETED' | 'FAILED' | 'RUNNING') =>
      plantExecution(database.get(), { atMs: START + minute * 60_000, status, events: 1 })
    ids = [await plant(0, 'COMPLETED'), await plant(1, 'FAILED'), await plant(2, 'FAILED'), await plant(9, 'RUNNING')]
    parent = ids[0]!
    await sql(
      `update noetl.execution set parent_execution_id = $2, tenant_id = 'acme', last_node_name = 'charge', error = 'card_declined', end_time = start_time + interval '90 s' where execution_id = $1`,
      [ids[1]!, parent],
    )
    await sql(`update noetl.execution set labels = $2::jsonb where execution_id = $1`, [
      ids[2]!,
      '{"note": "a,b\\\\c", "x": "y"}',
    ])
    await sql(
      `insert into noetl.command (command_id, event_id, execution_id, catalog_id, step_name, worker_id) values (1, 1, $1, 1, 's', 'worker_7')`,
      [ids[3]!],
    )
  })

  it('finds by several statuses, text, parent, step, tenant and how long it lasts, as the command does', async () => {
    const questions: [string, string[], number[]][] = [
      ['status=failed,running', ['--status', 'failed,running'], [3, 2, 1]],
      ['status=FAILED', ['--status', 'FAILED'], [2, 1]],
      ['q=CARD_d', ['--q', 'CARD_d'], [1]],
      ['q=cardXd', ['--q', 'cardXd'], []],
      [`q=${parent}`, ['--q', parent], [1, 0]],
      ['q=worker_7', ['--q', ' worker_7 '], [3]],
      ['q=worker_', ['--q', 'worker_'], []],
      [`label=${encodeURIComponent('note=a\\,b\\\\c,x=y')}`, ['--label', 'note=a,b\\c', '--label', 'x=y'], [2]],
      [`parent=${parent}`, ['--parent', parent], [1]],
      ['step=charge', ['--step', 'charge'], [1]],
      ['tenant=acme', ['--tenant', 'acme'], [1]],
      ['min_seconds=60&max_seconds=120', ['--longer-than', '60s', '--shorter-than', '2m'], [1]],
      ['max_seconds=0.5', ['--shorter-than', '0s'], [2, 0]],
    ]
    const env = { NOETL_DATABASE_URL: database.get().url }
    for (const [query, args, expected] of questions) {
      const wanted = expected.map((index) => ids[index])
      const { body } = await api.get(`/api/executions?ids=string&${query}`)
      expect(
        body.map((row: { execution_id: string }) => row.execution_id),
        query,
      ).toEqual(wanted)
      const ran = await cli(['execution', 'list', '--json', ...args], { env })
      const listed = JSON.parse(ran.stdout).executions.map((row: { execution_id: string }) => row.execution_id)
      expect(listed, args.join(' ')).toEqual(wanted)
    }
    expect((await api.get('/api/executions?min_seconds=soon')).status).toBe(400)
  })

  it('counts every execution once, in the span in which it began', async () => {
    const range = 'since=2026-03-01T10:00:00Z&until=2026-03-01T10:10:00Z'
    const { body } = await api.get(`/api/executions/histogram?buckets=5&${range}`)
    expect(body.map((bucket: { by_status: unknown }) => bucket.by_status)).toEqual([
      { COMPLETED: 1, FAILED: 1 },
      { FAILED: 1 },
      {},
      {},
      { RUNNING: 1 },
    ])
    expect(body[1]).toMatchObject({
      from: '2026-03-01T10:02:00.000000+00:00',
      to: '2026-03-01T10:04:00.000000+00:00',
    })
    const failed = (await api.get(`/api/executions/histogram?buckets=200&status=FAILED`)).body
    expect(failed).toHaveLength(200)
    expect(failed.reduce((sum: number, one: any) => sum + (one.by_status.FAILED ?? 0), 0)).toBe(2)
    expect((await api.get('/api/executions/histogram?buckets=201')).status).toBe(400)
    // Of more than it counts the newest, from when they began; fewer by a filter are all counted.
    const every = { catalogId: null, pathPattern: null, since: null, until: '2026-03-01T10:10:00.000000+00:00' }
    const newest = await executionHistogram(core, every, 2, 2)
    expect(newest).toMatchObject({ isCut: true, buckets: [{ from: '2026-03-01T10:01:00.000000+00:00' }, {}] })
    expect(newest.buckets.map(({ byStatus }) => byStatus)).toEqual([{ FAILED: 2 }, { RUNNING: 1 }])
    expect(await executionHistogram(core, { ...every, statuses: ['FAILED'] }, 1, 2)).toMatchObject({
      isCut: false,
      buckets: [{ byStatus: { FAILED: 2 } }],
    })
    expect((await api.get('/api/executions/histogram?since=2026-03-02&until=2026-03-01')).status).toBe(400)
  })
})

describe('the origin', () => {
  it('of an execution is who created it and when, of an unknown id the nearest ids, also beyond 2^53', async () => {
    await sql('delete from noetl.execution')
    const executionId = (n: number) => 380_994_186_641_326_080n + BigInt(n)
    const plant = (n: number) => plantExecution(database.get(), { atMs: START, executionId: executionId(n) })
    for (const n of [1, 9, 2, 30, 4, 90]) await plant(n)
    await sql('update noetl.execution set parent_execution_id = $2, created_at = $3 where execution_id = $1', [
      String(executionId(9)),
      String(executionId(1)),
      '2026-03-01T10:00:00Z',
    ])
    const origin = async (id: bigint | string) => api.get(`/api/executions/${id}/origin`)
    expect((await origin(executionId(9))).body).toEqual({
      execution_id: String(executionId(9)),
      shard: 0,
      shards: 1,
      created: {
        at: '2026-03-01T10:00:00.000000+00:00',
        catalog_id: '1',
        path: 'test/planted',
        parent_execution_id: String(executionId(1)),
      },
      instead: null,
      nearest: [],
    })
    const { body } = await origin(executionId(3))
    expect(body.created).toBeNull()
    expect(body.nearest.map((near: { execution_id: string }) => BigInt(near.execution_id) - executionId(0))).toEqual(
      expect.arrayContaining([2n, 4n, 1n, 9n, 30n]),
    )
    expect(body.nearest.at(-1)).toMatchObject({ execution_id: String(executionId(30)), status: 'COMPLETED' })
    expect((await origin('0')).body.nearest[0].execution_id).toBe(String(executionId(1)))
    expect((await origin('no-id')).status).toBe(400)
    // Ids of other things are copied as well.
    await sql(`insert into noetl.catalog (catalog_id, path, kind, version) values ($1, 'an/entry', 'playbook', 3)`, [
      String(executionId(77)),
    ])
    expect((await origin(executionId(77))).body).toMatchObject({
      created: null,
      instead: { kind: 'catalog', path: 'an/entry', version: 3 },
    })
  })
})

describe('a small timeline', () => {
  const plant = async (status: 'RUNNING' | 'CANCELLED', events: number, steps: string) => {
    const id = await plantExecution(database.get(), { atMs: START, status, events })
    // Step, type, second and status of each event.
    await sql(
      `update noetl.event e set event_type = given.type, node_name = given.step, status = given.status, created_at = e.created_at + given.second * interval '1 second'
       from (${steps}) as given (version, type, step, second, status) where e.execution_id = $1 and e.stream_version = given.version`,
      [id],
    )
    return id
  }

  it('has each step that was taken with its time and how it ended; what goes on has no end', async () => {
    const steps = `values (1, 'playbook.started', null, 0, null), (2, 'step.enter', 'fetch', 1, null), (3, 'command.failed', 'fetch', 2, null),
      (4, 'step.enter', 'charge', 3, null), (5, 'command.failed', 'charge', 4, 'FAILED'), (6, 'step.exit', 'charge', 7, 'COMPLETED'),
      (7, 'step.enter', 'ship', 5, null), (8, 'step.exit', 'count', 8, 'FAILED'),
      (9, 'step.skipped', 'other way', 9, 'SKIPPED')`
    const [running, cancelled] = [await plant('RUNNING', 9, steps), await plant('CANCELLED', 9, steps)]
    const foreign = await plantExecution(database.get(), { atMs: START, foreign: true })
    const { status, body } = await api.get(`/api/executions/timelines?ids=${running},${cancelled},${foreign},1`)
    expect(status).toBe(200)
    const timeline = (id: string, open: object) => ({
      execution_id: id,
      begins_at: '2026-03-01T10:00:01.000000+00:00',
      events: 9,
      looked_at: 9,
      steps: [
        { step: 'fetch', from_ms: 0, to_ms: 1_000, status: 'FAILED' },
        { step: 'charge', from_ms: 2_000, to_ms: 6_000, status: 'COMPLETED' },
        { step: 'ship', from_ms: 4_000, ...open },
        { step: 'count', from_ms: 7_000, to_ms: 7_000, status: 'FAILED' },
      ],
    })
    expect(body).toHaveLength(2)
    expect(body).toEqual(
      expect.arrayContaining([
        timeline(running, { to_ms: null, status: 'RUNNING' }),
        timeline(cancelled, { to_ms: 4_000, status: 'CANCELLED' }),
      ]),
    )
    expect((await api.get('/api/executions/timelines')).body).toEqual([])
    expect((await api.get('/api/executions/timelines?ids=x')).status).toBe(400)
    const many = Array.from({ length: 101 }, (_, index) => index + 1)
    expect((await api.get(`/api/executions/timelines?ids=${many}`)).status).toBe(400)
  })

  it('of a long log is made of events spread evenly over it, first and last among them', async () => {
    const id = await plant(
      'RUNNING',
      1_000,
      `select n, 'step.exit', case when n <= 500 then 'first' else 'second' end, n, null from generate_series(1, 1000) as n`,
    )
    const { body } = await api.get(`/api/executions/timelines?ids=${id}`)
    expect(body).toMatchObject([{ events: 1_000, looked_at: 200 }])
    const [first, second] = body[0].steps
    expect([first.step, first.from_ms, second.step, second.to_ms]).toEqual(['first', 0, 'second', 999_000])
    // The place where one ends and the other begins is known to a sample.
    expect(first.to_ms).toBeGreaterThan(490_000)
    expect(second.from_ms).toBeLessThan(510_000)
    expect(second.from_ms).toBeGreaterThan(first.to_ms)
  })
})
