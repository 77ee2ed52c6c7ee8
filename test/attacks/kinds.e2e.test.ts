// Promise: a subscription is not an execution, wherever its id is given for one. Cancelling and finalising say what it is
// and change nothing, showing names the right command, its entry cannot be started, and a parent that nobody knows is
// refused by execute. Import and projector tell what has happened elsewhere and are not judged.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { pushDocument } from '../subscriptions/specs.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { playbook } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { INTERNAL_TOKEN } from '../support/tokens.js'

const NOBODY = '4611686018427387904'
let database: TestDatabase
let daemon: Daemon
let subscription: string
let execution: string

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  daemon = await startDaemon([], {
    env: { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL_TOKEN },
  })
  for (const content of [playbook('tests/handler'), pushDocument({ path: 'tests/hook', listener: 'kinds' })]) {
    await call('POST', '/api/catalog/register', { content })
  }
  execution = (await call('POST', '/api/execute', { path: 'tests/handler' })).body.execution_id
  subscription = (await call('POST', '/api/subscriptions', { path: 'tests/hook' })).body.subscription_id
})
afterAll(async () => {
  await daemon?.stop()
  await database?.drop()
})

async function call(method: string, path: string, body?: object) {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    headers: { authorization: `Bearer ${INTERNAL_TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  return { status: response.status, body: (await response.json()) as Record<string, any> }
}
const command = (...args: string[]) => builtCli(args, { env: { NOETL_DATABASE_URL: database.url } })

const log = () =>
  database.sql<Record<string, unknown>>(
    'select e.event_type, x.status from noetl.event e join noetl.execution x using (execution_id) where execution_id = $1 order by event_id',
    [subscription],
  )
const executions = async (): Promise<number> =>
  (await database.sql<{ n: number }>('select count(*)::int as n from noetl.execution'))[0]!.n

/** What a reader is to be told. */
const named = () => new RegExp(`${subscription} is a subscription.*noetl-cp subscription show ${subscription}`)

describe('the id of a subscription', () => {
  it.each([
    ['POST', 'cancel', {}, 422],
    ['POST', 'cancel', { cascade: true }, 422],
    ['POST', 'finalize', { status: 'COMPLETED' }, 422],
    ['GET', '', undefined, 404],
    ['GET', 'status', undefined, 404],
    ['GET', 'cancellation-check', undefined, 404],
    ['GET', 'state', undefined, 404],
  ] as const)(
    '%s /api/executions/{id}/%s %o says what it is and changes nothing',
    async (method, what, body, status) => {
      const before = await log()
      const answer = await call(method, `/api/executions/${subscription}/${what}`, body)
      expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(named()), status } })
      expect(await log()).toEqual(before)
    },
  )

  it.each([
    ['execution', 'cancel'],
    ['execution', 'finalize', '--status', 'FAILED'],
    ['execution', 'show'],
    ['state', 'show'],
    ['state', 'why-stuck'],
  ])('%s %s says what it is and changes nothing', async (noun, verb, ...rest) => {
    const before = await log()
    const { code, stderr } = await command(noun!, verb!, subscription, ...rest)
    expect(stderr).toMatch(named())
    expect(code).not.toBe(0)
    expect(await log()).toEqual(before)
  })

  it('the other way round names the execution', async () => {
    const said = new RegExp(`${execution} is an execution.*noetl-cp execution show ${execution}`)
    for (const answer of [
      await call('GET', `/api/subscriptions/${execution}`),
      await call('POST', `/api/subscriptions/${execution}/pause`, {}),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: expect.stringMatching(said), status: 404 } })
    }
  })
})

describe('the entry of a subscription', () => {
  it('cannot be started, by any way', async () => {
    const before = await executions()
    const said = /tests\/hook is a subscription and cannot be started.*subscription register/
    const start = {
      execution_id: NOBODY,
      event_type: 'playbook_started',
      path: 'tests/hook',
      event_id: null,
    }
    expect((await call('POST', '/api/execute', { path: 'tests/hook' })).body['error']).toMatch(said)
    expect((await call('POST', '/api/events', start)).body['error']).toMatch(said)
    const batch = await call('POST', '/api/execute/batch', { executions: [{ path: 'tests/hook' }] })
    expect(batch.body['results'][0]).toMatchObject({ status: 'error', error: expect.stringMatching(said) })
    expect((await command('execution', 'start', 'tests/hook')).stderr).toMatch(said)
    expect(await executions()).toBe(before)
  })
})

describe('a parent', () => {
  it('that nobody knows is refused by execute', async () => {
    const before = await executions()
    const said = new RegExp(`no execution ${NOBODY} that could be the parent`)
    const answer = await call('POST', '/api/execute', { path: 'tests/handler', parent_execution_id: NOBODY })
    expect(answer).toMatchObject({ status: 422, body: { error: expect.stringMatching(said), status: 422 } })
    expect((await command('execution', 'start', 'tests/handler', '--parent', NOBODY)).stderr).toMatch(said)
    expect(await executions()).toBe(before)
  })
  it('may be an execution or a subscription', async () => {
    for (const parent of [execution, subscription]) {
      const answer = await call('POST', '/api/execute', { path: 'tests/handler', parent_execution_id: parent })
      expect(answer.status).toBe(200)
    }
  })
  it('that nobody knows is accepted from the projector and an import', async () => {
    const event = (n: number) => ({
      event_id: n,
      execution_id: n,
      event_type: 'playbook_started',
      timestamp: '2026-01-01T00:00:00Z',
      parent_execution_id: NOBODY,
    })
    const projected = await call('POST', '/api/internal/events/project', { events: [event(1001)] })
    expect(projected.body).toMatchObject({ projected: 1 })
    const imported = await builtCli(['events', 'import', '-'], {
      env: { NOETL_DATABASE_URL: database.url },
      input: `${JSON.stringify(event(1002))}\n`,
    })
    expect(imported.code, imported.stderr).toBe(0)
    const rows = await database.sql(
      'select parent_execution_id from noetl.execution where execution_id in (1001, 1002) order by execution_id',
    )
    expect(rows).toEqual([{ parent_execution_id: NOBODY }, { parent_execution_id: NOBODY }])
  })
})
