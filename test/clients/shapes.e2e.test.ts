// Promise: the answers that the GUI, the command line and the workers of the originals read have every field they look
// for, of the kind they expect. One row per field; the calls are made once, against one execution that ran and one that
// was cancelled.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { type Answer, type Call, call } from './client.js'
import { expectField, rowsOf, type Shape } from './shapes.js'

const INTERNAL = 'internal-token-of-the-contract'
const DOCUMENT = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: shapes
  path: tests/shapes
  description: What clients read
workload:
  city: Paris # ui:description=where to look
  # ui:secret
  api_key: abc
  days: 3
  ratio: 0.5
  deep: {inner: true}
  list: [1]
  nothing: null
  unit: metric # ui:options=metric,imperial
workflow:
  - step: start
    tool: {kind: noop}
`

let database: TestDatabase
let daemon: Daemon
let id: string
let catalogId: string
const answers = new Map<string, Answer>()

const send = (line: string, given: Call = {}) => call(daemon.url, line, given)
const internal = { authorization: `Bearer ${INTERNAL}` }

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: {
      NOETL_DATABASE_URL: database.url,
      NOETL_INTERNAL_API_TOKEN: INTERNAL,
      NOETL_CP_SQL_ROUTE: 'true',
    },
  })
  await send('POST /api/catalog/register', { body: { content: DOCUMENT } })
  const started = await send('POST /api/execute', { body: { path: 'tests/shapes', driven: false } })
  id = started.body.execution_id
  const event = (event_type: string, step: string, payload: object) =>
    send('POST /api/events', { body: { execution_id: id, event_type, step, payload } })
  await event('step.enter', 'start', {})
  await event('step.exit', 'start', { status: 'skipped', error: 'no such city' })
  await event('step.enter', 'later', {})
  await send(`POST /api/vars/${id}`, { body: { city: 'Rome', gone: 1 } })
  await send(`DELETE /api/vars/${id}/gone`)
  catalogId = (await send('POST /api/catalog/resource', { body: { path: 'tests/shapes' } })).body.catalog_id
  for (const { call: line } of SHAPES) {
    if (!answers.has(line)) answers.set(line, await send(line.replaceAll('{id}', id), CALLS[line]))
  }
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

const TIMES = {
  start_time: 'time',
  end_time: { orNull: 'time' },
  duration_seconds: 'number',
  duration_human: 'text',
} as const
const SUMMARY = {
  execution_id: 'id text',
  catalog_id: 'id text',
  path: { oneOf: ['tests/shapes'] },
  version: { oneOf: [1] },
  status: { oneOf: ['RUNNING'] },
  ...TIMES,
  progress: { oneOf: [50] },
  result: { oneOf: [null] },
  error: { orNull: 'text' },
  parent_execution_id: { orNull: 'id number' },
} as const

/** What a call sends besides its line. */
const CALLS: Record<string, Call> = {
  'POST /api/executions/cleanup': { body: { older_than_minutes: 1000, dry_run: true } },
  'POST /api/catalog/playbooks/validate': { body: { content: DOCUMENT } },
  'POST /api/catalog/agents/list': { body: {} },
  'POST /api/executions/{id}/analyze': { body: {} },
  'POST /api/postgres/execute': { body: { query: 'select 1 as one' }, headers: internal },
}

const SHAPES: readonly Shape[] = [
  { call: 'GET /api/executions', at: '0', fields: SUMMARY },
  { call: 'GET /api/executions/{id}?page=1&page_size=2', fields: { ...SUMMARY, events: 'list', pagination: 'object' } },
  {
    call: 'GET /api/executions/{id}?page=1&page_size=2',
    at: 'pagination',
    fields: {
      page: { oneOf: [1] },
      page_size: { oneOf: [2] },
      total_events: { oneOf: [6] },
      total_pages: { oneOf: [3] },
      has_next: { oneOf: [true] },
      has_prev: { oneOf: [false] },
    },
  },
  {
    call: 'GET /api/executions/{id}?page=3&page_size=2',
    at: 'pagination',
    fields: { page: { oneOf: [3] }, has_next: { oneOf: [false] }, has_prev: { oneOf: [true] } },
  },
  {
    call: 'GET /api/executions/{id}?event_type=step.exit',
    at: 'events/0',
    fields: {
      execution_id: 'id number',
      event_id: 'id number',
      event_type: { oneOf: ['step.exit'] },
      node_id: { oneOf: ['start'] },
      node_name: { oneOf: ['start'] },
      status: 'text',
      created_at: 'time',
      timestamp: 'time',
      context: 'anything',
      result: 'object',
      error: { oneOf: ['no such city'] },
      catalog_id: 'id number',
      parent_execution_id: { orNull: 'id number' },
      parent_event_id: { orNull: 'id number' },
      duration: { orNull: 'number' },
    },
  },
  {
    call: 'GET /api/executions/{id}?event_type=step.exit',
    at: 'events/0/result',
    fields: { status: { oneOf: ['skipped'] } },
  },
  {
    call: 'GET /api/executions/{id}/status',
    fields: {
      execution_id: 'id number',
      status: { oneOf: ['RUNNING'] },
      completed: { oneOf: [false] },
      failed: { oneOf: [false] },
      completed_steps: 'list',
      progress: 'object',
      current_step: 'text',
      is_cancelled: { oneOf: [false] },
      ...TIMES,
      variables: 'object',
      completion_inferred: { oneOf: [false] },
      error: { oneOf: [null] },
    },
  },
  { call: 'GET /api/executions/{id}/status', at: 'variables', fields: { city: { oneOf: ['Rome'] } } },
  {
    call: 'GET /api/executions/{id}/cancellation-check',
    fields: {
      execution_id: 'id number',
      is_cancelled: { oneOf: [false] },
      cancelled: { oneOf: [false] },
      completed: { oneOf: [false] },
      failed: { oneOf: [false] },
      status: { oneOf: ['RUNNING'] },
    },
  },
  {
    call: 'POST /api/executions/{id}/analyze',
    fields: {
      execution_id: 'id text',
      path: { oneOf: ['tests/shapes'] },
      status: { oneOf: ['RUNNING'] },
      generated_at: 'time',
      summary: 'object',
      findings: 'list',
      recommendations: 'list',
      cloud: 'object',
      playbook: 'object',
      event_sample: 'list',
      ai_prompt: 'text',
    },
  },
  {
    call: 'POST /api/executions/{id}/analyze',
    at: 'findings/0',
    fields: { reason: 'text', message: 'text', recommendation: 'text' },
  },
  {
    call: 'POST /api/executions/cleanup',
    fields: { cancelled_count: { oneOf: [0] }, execution_ids: 'list', message: 'text' },
  },
  {
    call: 'GET /api/catalog/tests/shapes/ui_schema',
    fields: {
      path: { oneOf: ['tests/shapes'] },
      version: { oneOf: [1] },
      kind: { oneOf: ['playbook'] },
      title: { oneOf: ['shapes'] },
      description_markdown: { oneOf: ['What clients read'] },
      exposed_in_ui: 'boolean',
      fields: 'list',
      generated_at: 'time',
    },
  },
  {
    call: 'GET /api/catalog/tests%2Fshapes/ui_schema?version=1',
    at: 'fields/0',
    fields: {
      name: { oneOf: ['city'] },
      kind: { oneOf: ['string'] },
      default: { oneOf: ['Paris'] },
      description: { oneOf: ['where to look'] },
      secret: { oneOf: [false] },
      credential_glob: { oneOf: [null] },
      options: 'list',
      children: 'list',
    },
  },
  {
    call: 'GET /api/catalog/playbook/content?playbook_id=tests/shapes',
    fields: {
      path: { oneOf: ['tests/shapes'] },
      version: { oneOf: [1] },
      catalog_id: 'id text',
      kind: 'text',
      content: { oneOf: [DOCUMENT] },
    },
  },
  { call: 'POST /api/catalog/playbooks/validate', fields: { valid: { oneOf: [true] }, errors: 'list' } },
  { call: 'POST /api/catalog/agents/list', fields: { entries: 'list' } },
  {
    call: 'GET /api/dashboard/stats',
    fields: { total_executions: { oneOf: [1] }, running_executions: { oneOf: [1] }, total_playbooks: { oneOf: [1] } },
  },
  {
    call: 'GET /api/db/validate',
    fields: { status: { oneOf: ['ok'] }, valid: { oneOf: [true] }, tables: 'list', missing: 'list' },
  },
  {
    call: 'GET /api/pool/status',
    fields: {
      pool_min: 'integer',
      pool_max: 'integer',
      pool_size: 'integer',
      pool_available: 'integer',
      requests_waiting: 'integer',
      utilization: 'number',
      slots_available: 'integer',
      status: 'text',
    },
  },
  {
    call: 'POST /api/postgres/execute',
    fields: { status: { oneOf: ['ok'] }, row_count: { oneOf: [1] }, result: 'list' },
  },
]

it.each(rowsOf(SHAPES))('%s: %s', (_, field, shape, kind) => {
  expectField(answers.get(shape.call)!, shape, field, kind)
})

describe('pages of events', () => {
  const events = async (query: string) => (await send(`GET /api/executions/${id}${query}`)).body.events
  it('are newest first, and together they are everything', async () => {
    const all = await events('')
    const types = all.map((event: { event_type: string }) => event.event_type)
    expect(types).toEqual(['ctx.updated', 'ctx.updated', 'step.enter', 'step.exit', 'step.enter', 'playbook_started'])
    expect([...(await events('?page=1&page_size=4')), ...(await events('?page=2&page_size=4'))]).toEqual(all)
  })
  it('begin after an event that is known', async () => {
    const all = await events('')
    expect(await events(`?since_event_id=${all[1].event_id}`)).toEqual([all[0]])
  })
})

describe('forms of playbooks', () => {
  it('have a field per key, by its value and its comments', async () => {
    const { fields } = answers.get('GET /api/catalog/tests/shapes/ui_schema')!.body
    const kinds = fields.map((field: { name: string; kind: string }) => [field.name, field.kind])
    expect(Object.fromEntries(kinds)).toEqual({
      city: 'string',
      api_key: 'string',
      days: 'integer',
      ratio: 'number',
      deep: 'object',
      list: 'array',
      nothing: 'null',
      unit: 'enum',
    })
    expect(fields[1]).toMatchObject({ name: 'api_key', secret: true, default: null })
    expect(fields[4].children).toMatchObject([{ name: 'inner', kind: 'boolean', default: true }])
    expect(fields[7].options).toEqual(['metric', 'imperial'])
  })
  it('of entries that do not exist are 404, and so is anything else below the catalog', async () => {
    expect((await send('GET /api/catalog/tests/nowhere/ui_schema')).status).toBe(404)
    expect((await send('GET /api/catalog/tests/shapes/ui_schema?version=7')).status).toBe(404)
    expect((await send('GET /api/catalog/tests/shapes/other')).status).toBe(404)
  })
})

describe('texts of playbooks', () => {
  const content = (name: string) => `GET /api/catalog/playbook/content?playbook_id=${name}`
  it('are found by path and by catalog id', async () => {
    expect((await send(content(catalogId))).body).toMatchObject({ path: 'tests/shapes', content: DOCUMENT })
    expect((await send(content('tests/nowhere'))).status).toBe(404)
    expect((await send('GET /api/catalog/playbook/content')).status).toBe(400)
  })
  it('become a new version; one of another path is refused', async () => {
    const put = (text: string) => send(content('tests/shapes').replace('GET', 'PUT'), { body: { content: text } })
    expect((await put(DOCUMENT.replace('Paris', 'Rome'))).body).toMatchObject({ version: 2, created: true })
    expect((await put(DOCUMENT.replace('tests/shapes', 'tests/other'))).status).toBe(422)
  })
  it('with mistakes are not valid, and the mistakes are named', async () => {
    const { body } = await send('POST /api/catalog/playbooks/validate', { body: { content: 'kind: Playbook' } })
    expect(body.valid).toBe(false)
    expect(body.errors.length).toBeGreaterThan(0)
  })
})

describe('SQL over HTTP', () => {
  it('needs the internal token', async () => {
    expect((await send('POST /api/postgres/execute', { body: { query: 'select 1' } })).status).toBe(403)
  })
  it('keeps every digit and takes parameters', async () => {
    const { body } = await send('POST /api/postgres/execute', {
      headers: internal,
      body: { query: 'select $1::bigint as id, $2::text as word', parameters: ['9007199254740993', 'x'] },
    })
    expect(body.result).toEqual([{ id: 9007199254740993n, word: 'x' }])
  })
})

describe('ending executions', () => {
  const fresh = async () =>
    (await send('POST /api/execute', { body: { path: 'tests/shapes', driven: false } })).body.execution_id
  it.each(['cancel', 'stop'])('%s names what was cancelled as text, itself included', async (verb) => {
    const parent = await fresh()
    const child = (
      await send('POST /api/execute', {
        body: { path: 'tests/shapes', driven: false, parent_execution_id: parent },
      })
    ).body.execution_id
    const line = `POST /api/executions/${parent}/${verb}`
    const answer = await send(line, { body: { cascade: true, reason: 'enough' } })
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'cancelled', cancelled_executions: [parent, child] },
    })
    // Again: it has ended, and that is fine.
    expect(await send(line, {})).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect((await send(`GET /api/executions/${parent}/cancellation-check`)).body).toMatchObject({
      cancelled: true,
      status: 'CANCELLED',
    })
  })
  it('one that completed stays completed', async () => {
    const one = await fresh()
    await send(`POST /api/executions/${one}/finalize`, { body: { status: 'COMPLETED' } })
    expect(await send(`POST /api/executions/${one}/cancel`)).toMatchObject({
      status: 200,
      body: { status: 'completed', cancelled_executions: [] },
    })
    const listed = await send('GET /api/executions')
    const [row] = listed.body.filter((row: { execution_id: string }) => row.execution_id === one)
    expect(row).toMatchObject({ progress: 100, result: { status: 'COMPLETED' } })
    const { body } = await send(`GET /api/executions/${one}`)
    expect(body).toMatchObject({ status: 'COMPLETED', progress: 100, result: { status: 'COMPLETED' } })
    expect((await send(`GET /api/executions/${one}/status`)).body).toMatchObject({ completed: true, failed: false })
  })
  it('those that began long ago are counted first and cancelled then', async () => {
    const one = await fresh()
    const cleanup = (body: object) => send('POST /api/executions/cleanup?ids=string', { body })
    expect((await cleanup({ older_than_minutes: 10 })).body).toMatchObject({ cancelled_count: 0, execution_ids: [] })
    const dry = await until('the clock has moved on', async () => {
      const answer = await cleanup({ older_than_minutes: 0, dry_run: true })
      return answer.body.execution_ids.includes(one) ? answer : undefined
    })
    expect(dry.body.cancelled_count).toBe(0)
    const done = await cleanup({ older_than_minutes: 0 })
    expect(done.body.execution_ids).toContain(one)
    expect(done.body.cancelled_count).toBe(done.body.execution_ids.length)
    expect((await send(`GET /api/executions/${one}/status`)).body.status).toBe('CANCELLED')
  })
})
