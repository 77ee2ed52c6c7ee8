// Promise: `noetl-cp console` gives an address that logs a browser in once; the session it gets may do what an operator may,
// from a page of the console alone; it dies when the token is rotated; no token shows in an address, a log or an error; and
// a read-only or switched-off console is so on the server, whatever is forged.
import { afterEach, expect, inject, it } from 'vitest'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { cloneDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'

const INTERNAL = 'internal-token-of-this-test'
const API = 'public-token-of-this-test'
const VIEWER = 'viewer-token-of-this-test'
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-noetl-csrf': '1' }

const daemons: Daemon[] = []
const databases: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop('SIGKILL')))
  await Promise.all(databases.splice(0).map((database) => database.drop()))
})

async function newDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase(inject('servers'))
  databases.push(database)
  return database
}

function settings(database: TestDatabase, env: Record<string, string>): Record<string, string> {
  return { NOETL_DATABASE_URL: database.url, NOETL_INTERNAL_API_TOKEN: INTERNAL, ...env }
}

async function serve(database: TestDatabase, env: Record<string, string> = {}): Promise<Daemon> {
  const daemon = await startDaemon([], { env: settings(database, env) })
  daemons.push(daemon)
  return daemon
}

interface Answer {
  status: number
  body: any
  cookie: string | null
}

async function call(
  daemon: Daemon,
  route: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer> {
  const [method, path] = route.split(' ') as [string, string]
  const answer = await fetch(new URL(path, daemon.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json(), cookie: answer.headers.get('set-cookie') }
}

/** The code of `noetl-cp console --print`. */
async function codeOf(daemon: Daemon, database: TestDatabase): Promise<string> {
  const port = new URL(daemon.url).port
  const printed = await builtCli(['console', '--print', '--port', port], { env: settings(database, {}) })
  expect(printed, printed.stderr).toMatchObject({ code: 0 })
  const url = new URL(printed.stdout.trim())
  expect(url.href.startsWith(`${daemon.url}/console/#code=`), url.href).toBe(true)
  return url.hash.slice('#code='.length)
}

async function login(daemon: Daemon, body: object): Promise<{ cookie: string }> {
  const answer = await call(daemon, 'POST /console/session', OWN_PAGE, body)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
  expect(answer.cookie).toMatch(/^noetl_session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
  return { cookie: answer.cookie!.split(';')[0]! }
}

/** Every route there is, as it can be called, and what it takes from a caller: `viewer` may only read. */
async function operations(daemon: Daemon): Promise<{ route: string; takes: string[]; body: object | undefined }[]> {
  const { paths } = (await call(daemon, 'GET /openapi.json')).body
  return Object.entries<Record<string, { security: object[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      route: `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '1')}`,
      takes: security.flatMap(Object.keys),
      body: method === 'get' ? undefined : {},
    })),
  )
}

const START = 'POST /api/catalog/register'
const DOCUMENT = { content: 'apiVersion: noetl.io/v2\nkind: Nothing\n' }

it('a one-time code becomes an operator once, and the session dies with the token', async () => {
  const database = await newDatabase()
  const daemon = await serve(database, { NOETL_API_TOKEN: API })
  expect(daemon.stdout()).toContain(`${daemon.url}/console/`)
  expect((await call(daemon, 'GET /api/session')).body).toMatchObject({ role: 'none', by: 'nothing' })

  const code = await codeOf(daemon, database)
  // A page of another place cannot log a browser in: it would act as whom the page chose.
  for (const from of [{}, { 'sec-fetch-site': 'cross-site', 'x-noetl-csrf': '1' }, { origin: 'http://evil.example' }]) {
    expect((await call(daemon, 'POST /console/session', from, { code })).status).toBe(403)
  }
  const session = await login(daemon, { code })
  expect((await call(daemon, 'POST /console/session', OWN_PAGE, { code })).status).toBe(403)
  expect((await call(daemon, 'POST /console/session', OWN_PAGE, { code: 'x' })).status).toBe(403)

  const me = await call(daemon, 'GET /api/session', session)
  expect(me.body).toMatchObject({
    role: 'operator',
    by: 'session',
    read_only: false,
    console: 'on',
    mode: 'production',
    call: 'noetl-cp {}',
  })
  expect(me.body.actor).not.toBe('')
  expect((await call(daemon, 'GET /api/executions', session)).status).toBe(200)
  expect((await call(daemon, START, { ...session, ...OWN_PAGE }, DOCUMENT)).status).not.toBe(403)
  expect((await call(daemon, START, session, DOCUMENT)).status).toBe(403)
  expect((await call(daemon, START, { ...session, origin: 'http://evil.example' }, DOCUMENT)).status).toBe(403)

  const logout = await call(daemon, 'DELETE /console/session', { ...session, ...OWN_PAGE })
  expect(logout.cookie).toContain('noetl_session=; Path=/; Max-Age=0')

  await daemon.stop()
  const rotated = await serve(database, { NOETL_API_TOKEN: API, NOETL_INTERNAL_API_TOKEN: `${INTERNAL}-new` })
  expect((await call(rotated, 'GET /api/executions', session)).status).toBe(403)
  expect((await call(rotated, 'GET /api/session', session)).body.role).toBe('none')
  for (const secret of [INTERNAL, API, code, session.cookie.split('=')[1]!]) {
    expect(daemon.stdout() + daemon.stderr() + rotated.stdout() + rotated.stderr()).not.toContain(secret)
  }
})

it('a pasted token becomes a session of its own role; a wrong one says so without repeating it', async () => {
  const daemon = await serve(await newDatabase(), { NOETL_API_TOKEN: API, NOETL_VIEWER_TOKEN: VIEWER })
  const viewer = await login(daemon, { token: VIEWER })
  const writer = await login(daemon, { token: API, actor: 'Ann' })
  expect((await call(daemon, 'GET /api/session', viewer)).body).toMatchObject({
    role: 'viewer',
    actor: expect.stringMatching(/^token-[0-9a-f]{8}$/),
  })
  expect((await call(daemon, 'GET /api/session', writer)).body).toMatchObject({
    role: 'writer',
    actor: expect.stringMatching(/^Ann \(token-[0-9a-f]{8}\)$/),
  })
  expect((await call(daemon, 'GET /api/executions', viewer)).status).toBe(200)
  expect((await call(daemon, START, { ...viewer, ...OWN_PAGE }, DOCUMENT)).status).toBe(403)
  expect((await call(daemon, START, { authorization: `Bearer ${VIEWER}` }, DOCUMENT)).status).toBe(403)
  expect((await call(daemon, START, { ...writer, ...OWN_PAGE }, DOCUMENT)).status).not.toBe(403)
  const wrong = await call(daemon, 'POST /console/session', OWN_PAGE, { token: 'a-token-that-is-wrong' })
  expect(wrong.status).toBe(403)
  expect(JSON.stringify(wrong.body) + daemon.stderr()).not.toContain('a-token-that-is-wrong')
  for (const actor of ['two\nlines', '\u001b[31m', '', '  ', 'Ann (token-12345678)', '\u2028', 'a'.repeat(65)]) {
    expect((await call(daemon, 'POST /console/session', OWN_PAGE, { token: API, actor })).status).toBe(400)
  }
  for (const body of [{}, { token: API, code: 'x' }]) {
    expect((await call(daemon, 'POST /console/session', OWN_PAGE, body)).status).toBe(400)
  }
})

it('a read-only console refuses every write of a session and of a page; off has no sessions', async () => {
  const database = await newDatabase()
  const readOnly = await serve(database, { NOETL_CP_CONSOLE: 'read-only' })
  const session = await login(readOnly, { token: INTERNAL })
  expect((await call(readOnly, 'GET /api/session', session)).body).toMatchObject({ role: 'viewer', read_only: true })
  expect((await call(readOnly, 'GET /api/executions', session)).status).toBe(200)
  const routes = await operations(readOnly)
  const needsMore = routes.filter(({ takes }) => takes.length > 0 && !takes.includes('viewer'))
  const forOperators = needsMore.filter(({ takes }) => takes.includes('session') && !takes.includes('api'))
  expect([needsMore.length > 50, forOperators.length > 10]).toEqual([true, true])
  for (const { route, body } of needsMore) {
    const refused = await call(readOnly, route, { ...session, ...OWN_PAGE }, body)
    expect([route, refused.status]).toEqual([route, 403])
  }
  for (const { route, body } of forOperators) {
    const refused = await call(readOnly, route, {}, body)
    expect([route, refused.status, refused.body.error]).toEqual([
      route,
      403,
      expect.stringContaining('noetl-cp console'),
    ])
  }
  for (const headers of [{ ...session, ...OWN_PAGE }, OWN_PAGE]) {
    const refused = await call(readOnly, START, headers, DOCUMENT)
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('read-only') } })
  }
  expect((await call(readOnly, START, {}, DOCUMENT)).status).not.toBe(403)
  await readOnly.stop()

  const off = await serve(database, { NOETL_CP_CONSOLE: 'off' })
  expect(off.stdout()).not.toContain(`${off.url}/console/`)
  expect((await call(off, 'POST /console/session', OWN_PAGE, { token: INTERNAL })).status).toBe(404)
  expect((await call(off, 'GET /api/session', session)).body).toMatchObject({ by: 'nothing', console: 'off' })
  expect((await call(off, 'GET /console')).status).toBe(404)
  const printed = await builtCli(['console', '--print', '--port', new URL(off.url).port], {
    env: settings(database, {}),
  })
  expect(printed.code).not.toBe(0)
  expect(printed.stderr).toContain('NOETL_CP_CONSOLE')
})

it('a foreign Host gets no data and no session', async () => {
  const daemon = await serve(await newDatabase())
  const session = await login(daemon, { token: INTERNAL })
  const { hostname, port } = new URL(daemon.url)
  const { request } = await import('node:http')
  const ask = (path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ hostname, port, path, headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      sent.on('error', reject).end()
    })
  for (const path of ['/api/executions', '/api/session']) {
    expect(await ask(path, { host: `localhost:${port}`, ...session })).toBe(200)
    expect(await ask(path, { host: `evil.example:${port}`, ...session })).toBe(403)
  }
})

it('shows the instance as the commands do: overview to everybody, doctor and settings to operators, no secret in any', async () => {
  const database = await newDatabase()
  const daemon = await serve(database)
  const operator = await login(daemon, { token: INTERNAL, actor: 'Ann' })
  const port = new URL(daemon.url).port
  const shown = async (words: string[]) =>
    JSON.parse((await builtCli([...words, '--json', '--port', port], { env: settings(database, {}) })).stdout)

  const overview = await call(daemon, 'GET /api/overview')
  expect(overview).toMatchObject({
    status: 200,
    body: { ready: expect.any(Boolean), errors: [], me: { role: 'writer', actor: 'anonymous', read_only: false } },
  })
  expect((await call(daemon, 'GET /api/overview', operator)).body.me).toEqual({
    role: 'operator',
    actor: expect.stringMatching(/^Ann \(token-[0-9a-f]{8}\)$/),
    read_only: false,
  })
  const status = await shown(['status'])
  expect(overview.body.schema).toEqual([
    { database: expect.any(String), applied: status.schema[0].applied, pending: 0 },
  ])
  expect(overview.body.shards).toEqual([expect.objectContaining({ shard: 0, error: null, dead: 0, relays: [] })])
  expect(overview.body.checks.map(({ name }: { name: string }) => name).toSorted()).toEqual(
    Object.keys(status.checks).toSorted(),
  )

  for (const route of ['GET /api/doctor', 'GET /api/settings']) {
    expect((await call(daemon, route)).status, route).toBe(403)
    expect((await call(daemon, route, { authorization: `Bearer ${INTERNAL}` })).status, route).toBe(200)
  }
  const kinds = (findings: { level: string; where: string }[]) =>
    JSON.stringify(findings.map(({ level, where }) => `${level} ${where}`).toSorted())
  // What is found may change between two looks.
  const found = await until('both find the same', async () => {
    const { body } = await call(daemon, 'GET /api/doctor', operator)
    return kinds(body.findings) === kinds((await shown(['doctor'])).findings) ? body : undefined
  })
  expect(found.problems).toBe(found.findings.filter(({ level }: { level: string }) => level === 'problem').length)

  const all = (await call(daemon, 'GET /api/settings', operator)).body.settings
  const known = await shown(['config', 'show'])
  expect(all.map(({ name }: { name: string }) => name)).toEqual(Object.keys(known))
  const one = (name: string) => all.find((setting: { name: string }) => setting.name === name)
  expect(one('internalToken')).toMatchObject({ value: '********', source: 'env', is_secret: true })
  expect(one('consoleMode')).toMatchObject({ value: 'on', default: 'on', source: 'default', env: 'NOETL_CP_CONSOLE' })
  const password = new URL(database.url).password
  expect(JSON.stringify([all, found, overview.body])).not.toContain(INTERNAL)
  if (password !== '') expect(one('databaseUrl').value).not.toContain(`:${password}@`)
})
