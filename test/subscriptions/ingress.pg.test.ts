// Promise: only who holds the secret starts executions, one per message, and only while the subscription is ACTIVE;
// whatever a stranger sends is refused without telling anything and without costing a metric series.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wireTimeFromMillis } from '../../src/domain/events/wireTime.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import { CpError } from '../../src/errors.js'
import { ingressRoutes } from '../../src/http/routes/subscriptions/ingress.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import { createIngress } from '../../src/services/subscriptions/ingress.js'
import { changeSubscription, registerSubscription } from '../../src/services/subscriptions/lifecycle.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'
import { openCore, registerPlaybook, type TestCore } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import { pushDocument, registerDocuments } from './specs.js'

const database = useDatabase()
const SECRET = 'whsec-0123456789'
let core: TestCore
let http: HttpServer
const seen: string[] = []

beforeAll(async () => {
  core = await openCore([database.get()])
  const ingress = createIngress({
    ...core,
    lifecycle: core,
    secretOf: (alias) => {
      if (alias === 'missing') throw new CpError('config', 'not there')
      return SECRET
    },
    onRequest: (listener, outcome) => seen.push(`${listener ?? '?'}:${outcome}`),
  })
  http = createHttpServer(
    ingressRoutes({ ingress }),
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits(),
      requestTimeoutMs: 30_000,
      access: { ...OPEN_ACCESS, internalTokens: ['internal'], apiTokens: ['api'] },
      version: 'test',
      secretRules: secretRules(),
      acts: NO_RECORD,
      readFlatBody: () => Promise.reject(new Error('not here')),
    },
    { log: silentLog },
  )
  await registerDocuments(
    core,
    pushDocument({ path: 'tests/hmac', listener: 'hmac' }),
    pushDocument({ path: 'tests/bearer', listener: 'bearer', verify: '{type: bearer, secret: test_hook}' }),
    pushDocument({
      path: 'tests/timed',
      listener: 'timed',
      verify: '{type: hmac_sha256, header: X-Signature, secret: s, timestamp_header: X-Time, tolerance_secs: 60}',
    }),
    pushDocument({ path: 'tests/lost', listener: 'lost', verify: '{type: bearer, secret: missing}' }),
    pushDocument({ path: 'tests/byid', listener: 'byid', extra: '  dedup: {enabled: true, window_secs: 600}\n' }),
    pushDocument({ path: 'tests/idle', listener: 'idle' }),
    pushDocument({
      path: 'tests/oidc',
      listener: 'oidc',
      verify: '{type: pubsub_oidc, audience: a, service_account: b}',
    }),
  )
  for (const path of ['tests/hmac', 'tests/bearer', 'tests/timed', 'tests/lost', 'tests/byid']) await activate(path)
  await registerSubscription(core, 'tests/idle')
})
afterAll(async () => {
  await http.app.close()
  await core.close()
})

async function activate(path: string): Promise<string> {
  const { row } = await registerSubscription(core, path)
  await changeSubscription(core, { id: row.subscription_id, action: 'activate' })
  return row.subscription_id
}

const sign = (body: string | Buffer, secret = SECRET): Buffer => createHmac('sha256', secret).update(body).digest()

async function push(listener: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await http.app.inject({ method: 'POST', url: `/ingress/${listener}`, payload: body, headers })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() as Record<string, any> }
}

const countStarts = async (): Promise<number> =>
  (
    await database
      .get()
      .sql<{ n: number }>("select count(*)::int as n from noetl.event where event_type = 'playbook_started'")
  )[0]!.n

const BODY = '{"order": 7, "total": 9007199254740993}'

describe('a push subscription that is in the catalog alone', () => {
  const bearer = { verify: '{type: bearer, secret: test_hook}' }
  const authorization = `Bearer ${SECRET}`
  it('is registered and active when the first message comes, also when many come at once', async () => {
    await registerDocuments(core, pushDocument({ path: 'tests/cataloged', listener: 'cataloged', ...bearer }))
    const answers = await until('the catalog is looked at again', async () => {
      const all = await Promise.all([1, 2, 3].map(() => push('cataloged', '{}', { authorization })))
      return all.every(({ status }) => status === 202) ? all : undefined
    })
    expect(new Set(answers.map(({ body }) => body['execution_id'])).size).toBe(3)
    const rows = await database.get().sql("select state from noetl.subscription where path = 'tests/cataloged'")
    expect(rows).toEqual([{ state: 'ACTIVE' }])
  })
  it('stays off once it was deactivated', async () => {
    const [row] = await database
      .get()
      .sql<{ id: string }>("select subscription_id::text as id from noetl.subscription where path = 'tests/cataloged'")
    await changeSubscription(core, { id: row!.id, action: 'deactivate' })
    expect((await push('cataloged', '{}', { authorization })).status).toBe(404)
  })
})

it('a header chooses among the playbooks that the document allows, and no other', async () => {
  const allowed = '{header: x-noetl-route, controls: dispatch.playbook, allowed: [tests/handler, tests/other]}'
  const extra = `  headers: {directives: [${allowed}]}\n`
  const verify = '{type: bearer, secret: test_hook}'
  await registerDocuments(core, pushDocument({ path: 'tests/routed', listener: 'routed', verify, extra }))
  await registerPlaybook(core, 'tests/other')
  await activate('tests/routed')
  const pathOf = async (route?: string): Promise<string> => {
    const headers = { authorization: `Bearer ${SECRET}`, ...(route === undefined ? {} : { 'x-noetl-route': route }) }
    const { status, body } = await push('routed', '{}', headers)
    if (status !== 202) return String(status)
    const [row] = await database
      .get()
      .sql<{ path: string }>('select path from noetl.execution where execution_id = $1::bigint', [body['execution_id']])
    return row!.path
  }
  expect(await pathOf('tests/other')).toBe('tests/other')
  expect(await pathOf('tests/secret')).toBe('422')
  expect(await pathOf()).not.toBe('tests/other')
})

describe('hmac_sha256', () => {
  it.each([
    ['hex', sign(BODY).toString('hex')],
    ['upper case hex', sign(BODY).toString('hex').toUpperCase()],
    ['base64', sign(BODY).toString('base64')],
    ['hex with prefix', `sha256=${sign(BODY).toString('hex')}`],
    ['base64 with prefix', `v1=${sign(BODY).toString('base64')}`],
  ])('accepts %s', async (_, signature) => {
    const { status, body } = await push('hmac', BODY, { 'x-signature': signature })
    expect({ status, body }).toEqual({ status: 202, body: { status: 'accepted', execution_id: expect.any(String) } })
    const [event] = await database
      .get()
      .sql<Record<string, any>>(
        'select parent_execution_id::text as parent, context from noetl.event where execution_id = $1::bigint',
        [body['execution_id']],
      )
    expect(event!['context'].workload).toEqual({ order: 7, total: 9007199254740993n })
    expect(event!['parent']).toMatch(/^\d+$/)
  })

  const right = sign(BODY).toString('hex')
  const base64 = sign(BODY).toString('base64')
  it.each([
    ['no signature', {}],
    ['an empty one', { 'x-signature': '' }],
    ['that of another body', { 'x-signature': sign('{}').toString('hex') }],
    ['that of another secret', { 'x-signature': sign(BODY, 'other').toString('hex') }],
    ['the first half', { 'x-signature': right.slice(0, 32) }],
    ['one byte short', { 'x-signature': right.slice(0, 62) }],
    ['one byte more', { 'x-signature': `${right}00` }],
    ['base64url', { 'x-signature': sign(BODY).toString('base64url') }],
    ['base64 with spare bits', { 'x-signature': `${base64.slice(0, 42)}${base64[42] === 'A' ? 'B' : 'A'}=` }],
    ['zeros', { 'x-signature': '0'.repeat(64) }],
    ['the right one under another name', { 'x-other': right }],
    ['sha256 without key', { 'x-signature': createHmac('sha256', '').update(BODY).digest('hex') }],
    ['several in one header', { 'x-signature': `${'0'.repeat(64)}, ${right}` }],
    ['a bearer instead', { authorization: `Bearer ${SECRET}` }],
  ])('refuses %s', async (_, headers: Record<string, string>) => {
    const before = await countStarts()
    const { status, body } = await push('hmac', BODY, headers)
    expect(status).toBe(401)
    expect(JSON.stringify(body)).not.toContain(right)
    expect(JSON.stringify(body)).not.toContain(SECRET)
    expect(await countStarts()).toBe(before)
  })

  it('signs bytes, not meaning', async () => {
    const signature = { 'x-signature': sign(BODY).toString('hex') }
    expect((await push('hmac', BODY.replace(' ', ''), signature)).status).toBe(401)
    expect((await push('hmac', `${BODY}\n`, signature)).status).toBe(401)
  })

  it('tells nothing of where a signature differs, whole answers compared', async () => {
    const flip = (at: number) => `${right.slice(0, at)}${right[at] === '0' ? '1' : '0'}${right.slice(at + 1)}`
    const answers = new Set<string>()
    for (let at = 0; at < right.length; at++) {
      const { status, headers, body } = await push('hmac', BODY, { 'x-signature': flip(at) })
      answers.add(JSON.stringify({ status, headers: { ...headers, date: '' }, body }))
    }
    expect([...answers].map((text) => JSON.parse(text).status)).toEqual([401])
  })

  it('refuses what is too old, from the future, or re-dated', async () => {
    const now = Math.floor(Date.now() / 1000)
    const timed = (seconds: number, claimed = seconds) =>
      push('timed', BODY, { 'x-time': String(claimed), 'x-signature': sign(`${seconds}.${BODY}`).toString('hex') })
    expect((await timed(now)).status).toBe(202)
    expect((await timed(now - 120)).status).toBe(401)
    expect((await timed(now + 120)).status).toBe(401)
    expect((await timed(now - 120, now)).status).toBe(401)
    expect((await push('timed', BODY, { 'x-signature': sign(BODY).toString('hex') })).status).toBe(401)
  })
})

describe('bearer', () => {
  it('takes the token of the listener and no other', async () => {
    const with_ = (authorization: string) => push('bearer', '{}', { authorization })
    expect((await with_(`Bearer ${SECRET}`)).status).toBe(202)
    expect((await with_(`bearer ${SECRET}`)).status).toBe(202)
    for (const wrong of [
      '',
      SECRET,
      `Bearer ${SECRET}x`,
      `Bearer ${SECRET.slice(0, -1)}`,
      'Bearer internal',
      'Basic x',
    ])
      expect((await with_(wrong)).status).toBe(401)
  })

  it('is refused while its secret is missing, without naming it', async () => {
    const { status, body, headers } = await push('lost', '{}', { authorization: 'Bearer x' })
    expect(status).toBe(503)
    expect(headers['retry-after']).toBe('30')
    expect(JSON.stringify(body)).not.toContain('missing')
  })
})

describe('the message', () => {
  it('is recognised when it comes again', async () => {
    const headers = { 'x-signature': sign(BODY).toString('hex'), 'x-message-id': 'delivery-1' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => push('hmac', BODY, headers)))
    expect(new Set(answers.map(({ body }) => body['execution_id'])).size).toBe(1)
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    const byId = (body: string) => push('byid', body, { 'x-signature': sign(body).toString('hex') })
    const [one, same, other] = [
      await byId('{"id": "evt_1"}'),
      await byId('{"id": "evt_1"}'),
      await byId('{"id": "evt_2"}'),
    ]
    expect(one.body['execution_id']).toBe(same.body['execution_id'])
    expect(one.body['execution_id']).not.toBe(other.body['execution_id'])
  })

  it('must be JSON that can be stored', async () => {
    const signed = (body: string | Buffer) => push('hmac', body, { 'x-signature': sign(body).toString('hex') })
    for (const bad of [
      'no json',
      '{"a": "\\u0000"}',
      Buffer.from([0xff, 0xfe]),
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    ])
      expect((await signed(bad)).status).toBe(400)
    expect((await signed('')).status).toBe(202)
    expect((await signed('[1, 2]')).status).toBe(202)
  })

  it('may have the size of an event and no more', async () => {
    const body = (bytes: number) => Buffer.from(`{"a": "${'x'.repeat(bytes - 9)}"}`)
    const large = body(4e6)
    expect((await push('hmac', large, { 'x-signature': sign(large).toString('hex') })).status).toBe(202)
    expect((await push('hmac', large, { 'x-signature': sign('x').toString('hex') })).status).toBe(401)
    const larger = body(4e6 + 1)
    expect((await push('hmac', larger, { 'x-signature': sign(larger).toString('hex') })).status).toBe(413)
  })
})

describe('the lifecycle', () => {
  const send = (listener: string) => push(listener, BODY, { 'x-signature': sign(BODY).toString('hex') })

  it('decides whether a listener receives', async () => {
    expect((await send('nobody')).status).toBe(404)
    expect((await send('idle')).status).toBe(503)
    const id = await activate('tests/idle')
    expect((await send('idle')).status).toBe(202)
    await changeSubscription(core, { id, action: 'pause', until: wireTimeFromMillis(Date.now() + 90_000) })
    const paused = await send('idle')
    expect(paused.status).toBe(503)
    expect(Number(paused.headers['retry-after'])).toBeGreaterThan(60)
    await changeSubscription(core, { id, action: 'resume' })
    expect((await send('idle')).status).toBe(202)
    await changeSubscription(core, { id, action: 'drain' })
    expect((await send('idle')).status).toBe(503)
    await changeSubscription(core, { id, action: 'deactivate' })
    expect((await send('idle')).status).toBe(404)
    // A stranger learns nothing about the state.
    expect((await push('idle', BODY)).status).toBe(404)
  })

  it('starts nothing after a pause has returned, also for requests under way', async () => {
    const { row } = await registerSubscription(core, 'tests/hmac')
    let isSending = true
    let refused = 0
    const senders = Array.from({ length: 8 }, async () => {
      while (isSending) if ((await send('hmac')).status === 503) refused += 1
    })
    const before = await countStarts()
    await until('requests are under way', async () => (await countStarts()) > before + 8)
    await changeSubscription(core, { id: row.subscription_id, action: 'pause' })
    const atReturn = await countStarts()
    await until('every sender was refused', () => refused >= 3 * senders.length)
    isSending = false
    await Promise.all(senders)
    expect(await countStarts()).toBe(atReturn)
    await changeSubscription(core, { id: row.subscription_id, action: 'resume' })
    expect((await send('hmac')).status).toBe(202)
  })

  it('leaves what it cannot verify to a gateway of its own', async () => {
    await activate('tests/oidc')
    expect((await push('oidc', BODY)).status).toBe(404)
    const answer = await http.app.inject({
      method: 'GET',
      url: '/api/internal/ingress/oidc',
      headers: { authorization: 'Bearer internal' },
    })
    expect(answer.json()).toMatchObject({ state: 'ACTIVE', verify: { type: 'pubsub_oidc', audience: 'a' } })
  })
})

describe('what a gateway asks', () => {
  it('is answered with the token only, and changes nothing', async () => {
    const ask = (headers: Record<string, string>) =>
      http.app.inject({ method: 'GET', url: '/api/internal/ingress/hmac', headers })
    expect((await ask({})).statusCode).toBe(403)
    expect((await ask({ authorization: 'Bearer api' })).statusCode).toBe(403)
    const before = await database.get().sql('select * from noetl.subscription order by 1')
    const answer = await ask({ authorization: 'Bearer internal' })
    expect(answer.json()).toMatchObject({
      listener: 'hmac',
      catalog_path: 'tests/hmac',
      source: 'webhook',
      subscription_id: expect.stringMatching(/^\d+$/),
      verify: { type: 'hmac_sha256', header: 'x-signature', secret: SECRET },
      dispatch: { playbook: 'tests/handler', payload_from: 'message.json' },
    })
    expect(await database.get().sql('select * from noetl.subscription order by 1')).toEqual(before)
  })

  it('counts strangers under one name', async () => {
    seen.length = 0
    for (let index = 0; index < 20; index++) await push(`scan-${index}`, '{}')
    for (const odd of ['%2e%2e%2f', "'%20or%201=1"]) expect((await push(odd, '{}')).status).toBe(404)
    // No name has one: it is refused before anybody is looked for.
    expect((await push('%00', '{}')).status).toBe(400)
    expect(new Set(seen)).toEqual(new Set(['?:unknown']))
  })
})
