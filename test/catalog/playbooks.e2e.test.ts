// Promise: clients hear of everything that is wrong with a playbook, with its place, wherever they bring it: when they ask,
// when they register it, and when they want to run it. Then nothing begins.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let daemon: Daemon
beforeAll(async () => {
  daemon = await startDaemon([], { env: { NOETL_DATABASE_URL: database.get().url } })
})
afterAll(() => daemon?.stop())

const BROKEN = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {path: tests/broken}
workflow:
  - step: start
    tool: {kind: http, url: '{{ workload.url | shorten }}'}
    next: finish
`
const PROBLEMS = [
  {
    pointer: '/workflow/0/tool/url',
    severity: 'error',
    message: expect.stringMatching(/^template error at \/workflow\/0\/tool\/url: .*shorten/),
  },
  { pointer: '/workflow/0/next', severity: 'error', message: 'there is no step "finish"' },
]

async function post(path: string, body: unknown) {
  const response = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as any }
}

it('judges a document that is not registered', async () => {
  const placed = PROBLEMS.map((problem, index) => ({
    ...problem,
    ...[
      { line: 6, column: 24 },
      { line: 7, column: 5 },
    ][index],
  }))
  expect(await post('/api/catalog/validate', { content: BROKEN })).toEqual({
    status: 200,
    body: { valid: false, path: 'tests/broken', kind: 'playbook', problems: placed },
  })
  expect(await post('/api/playbooks/validate', { content: playbook('tests/fine') })).toEqual({
    status: 200,
    body: { valid: true, path: 'tests/fine', kind: 'playbook', problems: [] },
  })
  expect((await post('/api/playbooks/validate', { content: 'a: [' })).body).toMatchObject({
    valid: false,
    path: null,
    problems: [{ pointer: '', severity: 'error', line: 1, column: 5 }],
  })
  expect(await database.get().sql('select 1 from noetl.catalog')).toEqual([])
})

it('registers a broken playbook with warnings, and starts nothing of it', async () => {
  const registered = await post('/api/catalog/register', { content: BROKEN })
  expect(registered).toMatchObject({
    status: 200,
    body: { version: 1, warnings: PROBLEMS.map(({ pointer, ...rest }) => ({ path: pointer, ...rest })) },
  })
  expect(await post('/api/execute', { path: 'tests/broken' })).toMatchObject({
    status: 422,
    body: { error: expect.stringMatching(/^the playbook tests\/broken cannot run: /), status: 422, problems: PROBLEMS },
  })
  await post('/api/catalog/register', { content: playbook('tests/fine') })
  const batch = await post('/api/execute/batch', { executions: [{ path: 'tests/broken' }, { path: 'tests/fine' }] })
  expect(batch.body).toMatchObject({
    started: 1,
    failed: 1,
    results: [{ status: 'error', problems: PROBLEMS }, { status: 'started' }],
  })
  expect(await database.get().sql('select path from noetl.execution')).toEqual([{ path: 'tests/fine' }])
})
