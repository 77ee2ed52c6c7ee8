// Promise: what a person does is on record before it is done, with who, what and why, and afterwards with how it ended, also
// when it failed; what cannot be put on record is not done; a record has no secrets and cannot be changed or removed early.
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { sealSession } from '../../src/domain/access/sealedSession.js'
import { CpError } from '../../src/errors.js'
import type { Caller } from '../../src/http/callers.js'
import type { RouteSpec } from '../../src/http/route.js'
import { activityRoutes } from '../../src/http/routes/access/activity.js'
import { subscriptionRoutes } from '../../src/http/routes/subscriptions/subscriptions.js'
import { activityOf } from '../../src/services/access/activity.js'
import { createActs } from '../../src/services/access/acts.js'
import { registerEntry } from '../../src/services/catalog/catalog.js'
import { purgeActions } from '../../src/stores/access/operatorActionStore.js'
import { server } from '../http/httpHarness.js'
import { pullDocument } from '../subscriptions/specs.js'
import { openCore, playbook, type TestCore } from '../support/core.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase
let core: TestCore
let callers: Caller[]

beforeAll(async () => {
  database = await cloneDatabase(inject('servers'))
  core = await openCore([database])
})
afterAll(async () => {
  await core.close()
  await database.drop()
})

const answer = { responses: { 200: 'ok' } }
const BODY = { type: 'object', properties: { reason: { type: 'string' }, password: { type: 'string' } } } as const

/** A few acts, behind the same mounting as every route. */
function routes(): RouteSpec[] {
  const act = (path: string, method: 'POST' | 'DELETE', access: 'public' | 'operator', run: () => Promise<object>) =>
    ({
      method,
      path,
      summary: 'an act',
      access,
      effect: 'write',
      body: BODY,
      bodyOptional: true,
      ...answer,
      handler: async ({ caller }) => {
        callers.push(caller)
        const { about, ...body } = (await run()) as { about?: { kind: string; id: string } }
        return { body, ...(about === undefined ? {} : { about }) }
      },
    }) satisfies RouteSpec
  return [
    ...activityRoutes({ activity: { databases: core.databases } }),
    act('/api/executions/:execution_id/cancel', 'POST', 'public', async () => ({})),
    act('/api/execute', 'POST', 'public', async () => ({ about: { kind: 'execution', id: '99' } })),
    act('/api/executions/:execution_id/rerun', 'POST', 'public', async () => ({
      about: { kind: 'execution', id: '98' },
    })),
    act('/api/internal/outbox/redrive', 'POST', 'operator', async () => ({})),
    act('/api/things/:id/:action', 'POST', 'public', async () => {
      throw new CpError('refused', 'not in this state')
    }),
    act('/api/credentials/:name', 'DELETE', 'public', async () => {
      throw new CpError('unavailable', 'the database is away')
    }),
  ]
}

const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-noetl-csrf': '1' }
const ANN = `noetl_session=${sealSession({ role: 'operator', actor: 'ann', expiresAt: Date.now() + 3_600_000 }, 'internal')}`

function serving(databases = core.databases) {
  callers = []
  const acts = createActs({ databases, secretRules: null, onUnfinished: (error) => expect.fail(error.message) })
  const { app } = server({ acts, access: { internalTokens: ['internal'], apiTokens: ['api'] } }, routes())
  return async (method: 'GET' | 'POST' | 'DELETE', url: string, headers: Record<string, string>, payload?: object) => {
    const reply = await app.inject({ method, url, headers: { host: 'localhost', ...headers }, payload: payload ?? '' })
    return { status: reply.statusCode, body: reply.json() }
  }
}

it('has every act of a session and of an operator, and none of the programs', async () => {
  const call = serving()
  const session = { cookie: ANN, ...OWN_PAGE }
  const internal = { authorization: 'Bearer internal' }
  const why = { reason: 'stuck since noon', password: 'hunter2' }
  expect((await call('POST', '/api/executions/77/cancel', session, why)).status).toBe(200)
  expect(
    (await call('POST', '/api/internal/outbox/redrive', internal, { reason: 'no stream', note: 'it is back' })).status,
  ).toBe(200)
  expect((await call('POST', '/api/things/5/pause', session)).status).toBe(422)
  expect((await call('DELETE', '/api/credentials/pg', session)).status).toBe(503)
  // The traffic of programs, and what was not let in at all.
  expect((await call('POST', '/api/executions/78/cancel', { authorization: 'Bearer api' })).status).toBe(200)
  expect((await call('POST', '/api/executions/79/cancel', { cookie: ANN })).status).toBe(403)

  const { body } = await call('GET', '/api/activity', { authorization: 'Bearer api' })
  expect(body.activity).toEqual([
    expect.objectContaining({
      actor: 'ann',
      action: 'credentials.delete',
      target_kind: 'credential',
      target_id: 'pg',
      outcome: 'failed',
      error: 'the database is away',
    }),
    expect.objectContaining({ action: 'things.pause', target_id: '5', outcome: 'refused', error: 'not in this state' }),
    expect.objectContaining({
      actor: expect.stringMatching(/^token-[0-9a-f]{8}$/),
      via: 'api',
      action: 'outbox.redrive',
      target_id: null,
      reason: 'it is back',
      outcome: 'done',
    }),
    expect.objectContaining({
      actor: 'ann',
      role: 'operator',
      via: 'console',
      action: 'executions.cancel',
      target_kind: 'execution',
      target_id: '77',
      reason: 'stuck since noon',
      request: { reason: 'stuck since noon', password: '[REDACTED]' },
      outcome: 'done',
      error: null,
      finished_at: expect.any(String),
    }),
  ])

  const found = async (query: string) =>
    (await call('GET', `/api/activity?${query}`, { authorization: 'Bearer api' })).body.activity.map(
      ({ action }: { action: string }) => action,
    )
  expect(await found('actor=ann&action=executions')).toEqual(['executions.cancel'])
  expect(await found('target=5')).toEqual(['things.pause'])
  for (const none of ['thing', '%25', 'things%25', 'thing_', '%5C']) expect(await found(`action=${none}`)).toEqual([])
  expect(await found('since=2100-01-01T00:00:00Z')).toEqual([])
  const first = await call('GET', '/api/activity?limit=3', { authorization: 'Bearer api' })
  const rest = await found(`limit=3&cursor=${first.body.next_cursor}`)
  expect([...first.body.activity.map(({ action }: { action: string }) => action), ...rest]).toHaveLength(4)
  expect(rest).toEqual(['executions.cancel'])
  // Who gave a name with a token is found by the name.
  await database.sql(`insert into noetl.operator_action (actor, role, via, action, outcome)
    select actor, 'operator', 'console', 'named', 'done' from unnest(array['Ada (token-1a2b3c4d)', 'Ada Lovelace']) actor`)
  for (const actor of ['Ada', 'Ada (token-1a2b3c4d)']) {
    expect(await found(`actor=${encodeURIComponent(actor)}`)).toEqual(['named'])
  }
})

it('says what an act was about, also where that is known only at its end', async () => {
  const call = serving()
  for (const path of ['/api/execute', '/api/executions/97/rerun'])
    expect((await call('POST', path, { cookie: ANN, ...OWN_PAGE })).body).toEqual({})
  const { activity } = (await call('GET', '/api/activity?limit=2', { authorization: 'Bearer api' })).body
  expect(activity).toMatchObject([
    { action: 'executions.rerun', target_id: '97' },
    { action: 'execute', target_kind: 'execution', target_id: '99', at: expect.stringMatching(/T.*\+00:00$/) },
  ])
  const another = `update noetl.operator_action set target_id = '1' where id = $1::bigint`
  await expect(database.sql(another, [activity[1].id])).rejects.toThrow(/cannot be changed/)
  const begun = `insert into noetl.operator_action (actor, role, via, action, target_id) values ('a', 'b', 'api', 'c', $1) returning id`
  const [open] = await database.sql(begun, ['5'])
  const end = `update noetl.operator_action set outcome = 'done', target_id = $2 where id = $1::bigint`
  await expect(database.sql(end, [String(open!['id']), '6'])).rejects.toThrow(/cannot be changed/)
})

it('names in the log of a subscription who has acted, whatever a session says', async () => {
  await registerEntry(core, { content: playbook('tests/handler') })
  await registerEntry(core, { content: pullDocument({ path: 'subs/who', subject: 'who', stream: 's' }) })
  const access = { internalTokens: ['internal'], apiTokens: ['api'] }
  const { app } = server({ access }, subscriptionRoutes({ subscriptions: { ...core, bus: undefined } }))
  const post = async (url: string, headers: Record<string, string>, body: object) => {
    const payload = JSON.stringify(body)
    const reply = await app.inject({ method: 'POST', url, headers: { host: 'localhost', ...headers }, payload })
    expect(reply.statusCode, reply.body).toBe(200)
    return reply.json().subscription_id as string
  }
  const session = { cookie: ANN, ...OWN_PAGE }
  const program = { authorization: 'Bearer api' }
  const id = await post('/api/subscriptions', session, { path: 'subs/who', actor: 'eve' })
  await post(`/api/subscriptions/${id}/activate`, session, { actor: 'eve' })
  await post(`/api/subscriptions/${id}/pause`, program, { actor: 'nightly job' })
  await post(`/api/subscriptions/${id}/resume`, program, {})
  const history = await app.inject({
    url: `/api/subscriptions/${id}/history`,
    headers: { host: 'localhost', ...program },
  })
  expect(history.json().events.map(({ actor }: { actor: string }) => actor)).toEqual([
    'ann',
    'ann',
    'nightly job',
    expect.stringMatching(/^token-[0-9a-f]{8}$/),
  ])
})

it('is paged newest first, also where ids grow by a digit', async () => {
  const call = serving()
  const done = Array.from({ length: 25 }, (_, index) => String(1_000 + index))
  for (const id of done) await call('POST', `/api/executions/${id}/cancel`, { cookie: ANN, ...OWN_PAGE })
  const paged: string[][] = []
  for (let cursor = ''; paged.length < 10 && cursor !== 'null'; ) {
    const query = `action=executions.cancel&limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { body } = await call('GET', `/api/activity?${query}`, { authorization: 'Bearer api' })
    paged.push(body.activity.map((act: { target_id: string }) => act.target_id))
    cursor = String(body.next_cursor)
  }
  expect(paged.flat().filter((id) => id !== '77')).toEqual(done.toReversed())
})

it('is written before the act, and an act that cannot be recorded is not done', async () => {
  const acts = createActs({
    databases: core.databases,
    secretRules: null,
    onUnfinished: (error) => expect.fail(error.message),
  })
  const act = {
    actor: 'ann',
    role: 'operator',
    via: 'api',
    action: 'look',
    targetKind: null,
    targetId: 'look',
  } as const
  const seen = await acts.around({ ...act, reason: null, request: null }, () => listed('look'))
  expect(seen).toEqual(['intent'])
  expect(await listed('look')).toEqual(['done'])

  const away = { cluster: { db: { run: () => Promise.reject(new CpError('unavailable', 'no connection')) } } }
  const call = serving(away as never)
  const refused = await call('POST', '/api/executions/77/cancel', { cookie: ANN, ...OWN_PAGE })
  expect(refused).toMatchObject({ status: 503, body: { error: expect.stringContaining('nothing was done') } })
  expect(callers).toEqual([])
})

async function listed(target: string): Promise<string[]> {
  const filter = { actor: null, action: null, since: null, beforeId: null, limit: 10 }
  return (await activityOf(core, { ...filter, target })).actions.map(({ outcome }) => outcome)
}

it('cannot be changed or removed, except when it is old', async () => {
  const insert = (at: string, outcome: string) =>
    database.sql(
      `insert into noetl.operator_action (at, actor, role, via, action, target_id, outcome) values (${at}, 'x', 'operator', 'api', 'old', 'old', '${outcome}')`,
      [],
    )
  await insert("now() - interval '400 days'", 'done')
  await insert("now() - interval '40 days'", 'done')
  await insert('now()', 'done')
  await expect(
    database.sql("update noetl.operator_action set actor = 'y' where target_id = 'old'", []),
  ).rejects.toThrow()
  await expect(database.sql("delete from noetl.operator_action where target_id = 'old'", [])).rejects.toThrow()
  expect(await purgeActions(core.databases.cluster.db, 365, 10)).toBe(1)
  expect(await listed('old')).toEqual(['done', 'done'])
})
