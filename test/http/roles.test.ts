// Promise: what a caller may do follows from its role and from the effect of the route, on the server: a viewer changes
// nothing, operator routes need an operator, a session acts only from a page of ours, and a read-only console makes a viewer of
// every session and every web page. Programs with a token in the header go on as before.
import { describe, expect, it } from 'vitest'
import { ROLES, type Role } from '../../src/domain/access/roles.js'
import { sealSession } from '../../src/domain/access/sealedSession.js'
import type { AccessSettings } from '../../src/http/access.js'
import { buildRoutes } from '../../src/http/routes/index.js'
import { systemClock } from '../../src/runtime/clock.js'
import { server } from './httpHarness.js'

const TOKENS = { internalTokens: ['internal'], apiTokens: ['api'], viewerTokens: ['viewer'] }
/** Without NOETL_API_TOKEN: open to programs of this machine. */
const OPEN = { internalTokens: ['internal'], ownTokens: ['own'], viewerTokens: ['viewer'] }
const LATER = Date.now() + 3_600_000
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-noetl-csrf': '1' }

function cookie(role: Role, token: string, expiresAt = LATER): { cookie: string } {
  return { cookie: `theme=dark; noetl_session=${sealSession({ role, actor: 'ann', expiresAt }, token)}` }
}

async function call(
  route: string,
  headers: Record<string, string>,
  access: Partial<AccessSettings>,
): Promise<{ status: number; error: string | undefined }> {
  const [method, url] = route.split(' ') as ['GET' | 'POST', string]
  const reply = await server({ access }).app.inject({ method, url, headers: { host: 'localhost:8082', ...headers } })
  return { status: reply.statusCode, error: reply.json().error }
}

const READ = 'GET /api/things/7'
const POSTED_READ = 'POST /api/things/find'
const WRITE = 'POST /api/things'
const OPERATOR_READ = 'GET /api/secrets'
const OPERATOR_WRITE = 'POST /api/acts'
const INTERNAL = 'GET /api/internal/things'

async function allowed(headers: Record<string, string>, access: Partial<AccessSettings>): Promise<string[]> {
  const routes = [READ, POSTED_READ, WRITE, OPERATOR_READ, OPERATOR_WRITE, INTERNAL]
  const statuses = await Promise.all(routes.map(async (route) => [route, (await call(route, headers, access)).status]))
  for (const [route, status] of statuses) expect([200, 403], String(route)).toContain(status)
  return statuses.filter(([, status]) => status === 200).map(([route]) => String(route))
}

const READS = [READ, POSTED_READ]
const WRITES = [...READS, WRITE]
const OPERATES = [...WRITES, OPERATOR_READ, OPERATOR_WRITE]

it('every route says whether it changes anything, and no GET does', () => {
  const routes = buildRoutes({ clock: systemClock } as Parameters<typeof buildRoutes>[0])
  const names = (list: typeof routes) => list.map(({ method, path }) => `${method} ${path}`)
  expect(names(routes.filter(({ effect }) => effect !== 'read' && effect !== 'write'))).toEqual([])
  expect(names(routes.filter(({ method, effect }) => method === 'GET' && effect === 'write'))).toEqual([])
  expect(routes.length).toBeGreaterThan(50)
})

describe('a token in the header', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  it.each([
    ['viewer', READS],
    ['api', WRITES],
    ['internal', [...OPERATES, INTERNAL]],
    ['wrong', []],
  ])('%s, where the API has a token', async (token, expected) => {
    expect(await allowed(bearer(token), TOKENS)).toEqual(expected)
  })
  it.each([
    ['viewer', READS],
    ['own', WRITES],
    ['internal', [...OPERATES, INTERNAL]],
    ['wrong', WRITES],
  ])('%s, where the API has none', async (token, expected) => {
    expect(await allowed(bearer(token), OPEN)).toEqual(expected)
  })
  it('goes on working with a console that is read-only or off', async () => {
    for (const console of ['read-only', 'off'] as const) {
      expect(await allowed(bearer('internal'), { ...TOKENS, console })).toEqual([...OPERATES, INTERNAL])
      expect(await allowed({}, { ...OPEN, console })).toEqual(WRITES)
    }
  })
  it('a refused viewer reads which token may', async () => {
    expect((await call(WRITE, bearer('viewer'), TOKENS)).error).toContain('NOETL_API_TOKEN')
    expect((await call(OPERATOR_READ, bearer('api'), TOKENS)).error).toContain('NOETL_INTERNAL_API_TOKEN')
  })
})

describe('nobody in particular', () => {
  it('may do nothing where the API has a token, and is told how an operator logs in', async () => {
    expect(await allowed({}, TOKENS)).toEqual([])
    expect((await call(OPERATOR_READ, {}, TOKENS)).error).toContain('noetl-cp console')
  })
  it('may use the public API of this machine, and no operator route', async () => {
    expect(await allowed({}, OPEN)).toEqual(WRITES)
    expect(await allowed({}, { ...OPEN, writesNeedToken: () => true })).toEqual(READS)
  })
  it('gets 503 from operator routes where no internal token exists', async () => {
    expect((await call(OPERATOR_READ, {}, {})).status).toBe(503)
  })
})

describe('a session', () => {
  it.each<[Role, string, string[]]>([
    ['viewer', 'viewer', READS],
    ['writer', 'api', WRITES],
    ['operator', 'internal', OPERATES],
    ['viewer', 'internal', READS],
    // Whoever knows a token can make such a cookie: it grants no more than the token.
    ['operator', 'api', WRITES],
    ['operator', 'viewer', READS],
  ])('as %s under the token %s', async (role, token, expected) => {
    expect(await allowed({ ...cookie(role, token), ...OWN_PAGE }, TOKENS)).toEqual(expected)
  })
  it('is that of an operator where the API has no token, too', async () => {
    expect(await allowed({ ...cookie('operator', 'internal'), ...OWN_PAGE }, OPEN)).toEqual(OPERATES)
    const closed = { ...OPEN, writesNeedToken: () => true }
    expect(await allowed({ ...cookie('operator', 'internal'), ...OWN_PAGE }, closed)).toEqual(OPERATES)
  })
  it('ends with its time, with its token, and with the console', async () => {
    const operator = { ...cookie('operator', 'internal'), ...OWN_PAGE }
    expect(await allowed({ ...cookie('operator', 'internal', Date.now() - 1), ...OWN_PAGE }, TOKENS)).toEqual([])
    expect(await allowed(operator, { ...TOKENS, internalTokens: ['rotated'] })).toEqual([])
    expect(await allowed(operator, { ...TOKENS, internalTokens: ['rotated', 'internal'] })).toEqual(OPERATES)
    expect(await allowed(operator, { ...TOKENS, console: 'off' })).toEqual([])
  })
  it('is not believed when a single character is another', async () => {
    const { cookie: text } = cookie('viewer', 'internal')
    const value = text.split('noetl_session=')[1]!
    const [version, payload, seal] = value.split('.') as [string, string, string]
    const raised = Buffer.from(JSON.stringify([LATER, 'operator', 'ann'])).toString('base64url')
    for (const forged of [
      `${version}.${raised}.${seal}`,
      `${version}.${payload}.${seal.slice(0, -2)}AA`,
      `${version}.${payload}.`,
      `${version}.${payload}`,
      `v2.${payload}.${seal}`,
      `${value}.x`,
      '',
      'null',
      'A'.repeat(5_000),
    ]) {
      expect(await allowed({ cookie: `noetl_session=${forged}`, ...OWN_PAGE }, TOKENS), forged).toEqual([])
    }
  })
  it('counts for nothing beside a token in the header', async () => {
    const both = { ...cookie('operator', 'internal'), ...OWN_PAGE, authorization: 'Bearer viewer' }
    expect(await allowed(both, TOKENS)).toEqual(READS)
  })
  it('goes on beside the password of a proxy, and acts from a page of ours alone', async () => {
    const operator = { ...cookie('operator', 'internal'), authorization: 'Basic YW5uOnB3' }
    expect(await allowed({ ...operator, ...OWN_PAGE }, TOKENS)).toEqual(OPERATES)
    expect((await call(WRITE, operator, TOKENS)).status).toBe(403)
    expect(await allowed({ authorization: 'Basic YW5uOnB3' }, TOKENS)).toEqual([])
  })
  it('is found behind what another port of the machine has set under its name', async () => {
    const { cookie: own } = cookie('operator', 'internal')
    const foreign = 'noetl_session=v1.x.y; noetl_session='
    expect(await allowed({ cookie: `${foreign}; ${own}`, ...OWN_PAGE }, TOKENS)).toEqual(OPERATES)
    expect(await allowed({ cookie: `${foreign}; `.repeat(100) + own, ...OWN_PAGE }, TOKENS)).toEqual([])
  })
})

describe('a session acts only from a page of ours', () => {
  const operator = cookie('operator', 'internal')
  const acts = async (headers: Record<string, string>, access: Partial<AccessSettings> = TOKENS) => [
    (await call(WRITE, { ...operator, ...headers }, access)).status,
    (await call(OPERATOR_WRITE, { ...operator, ...headers }, access)).status,
  ]
  it.each<[string, Record<string, string>]>([
    ['Sec-Fetch-Site: same-origin', OWN_PAGE],
    ['an Origin equal to Host', { origin: 'http://localhost:8082', 'x-noetl-csrf': '1' }],
    ['an Origin equal to Host behind TLS', { origin: 'https://localhost:8082', 'x-noetl-csrf': '1' }],
  ])('%s and our header are taken', async (_, headers) => {
    expect(await acts(headers)).toEqual([200, 200])
  })
  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['our header alone', { 'x-noetl-csrf': '1' }],
    ['the page alone', { 'sec-fetch-site': 'same-origin' }],
    ['the origin alone', { origin: 'http://localhost:8082' }],
    ['another value of our header', { 'sec-fetch-site': 'same-origin', 'x-noetl-csrf': 'true' }],
    ['an address that was typed', { 'sec-fetch-site': 'none', 'x-noetl-csrf': '1' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site', 'x-noetl-csrf': '1' }],
    ['another site', { 'sec-fetch-site': 'cross-site', 'x-noetl-csrf': '1' }],
    ['another origin', { origin: 'http://localhost:3000', 'x-noetl-csrf': '1' }],
    [
      'another origin that claims to be ours',
      { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site', 'x-noetl-csrf': '1' },
    ],
    ['an origin without a name', { origin: 'null', 'x-noetl-csrf': '1' }],
  ])('%s is refused', async (_, headers) => {
    expect(await acts(headers)).toEqual([403, 403])
    expect(await acts(headers, OPEN)).toEqual([403, 403])
  })
  it('and is not even read from elsewhere', async () => {
    expect((await call(OPERATOR_READ, operator, TOKENS)).status).toBe(200)
    for (const from of [{ 'sec-fetch-site': 'same-site' }, { origin: 'http://localhost:3000' }]) {
      expect((await call(OPERATOR_READ, { ...operator, ...from }, TOKENS)).status).toBe(403)
    }
  })
})

describe('a read-only console', () => {
  const access = { ...TOKENS, console: 'read-only' as const }
  it('makes a viewer of every session', async () => {
    for (const role of ROLES.slice(1)) {
      expect(await allowed({ ...cookie(role, 'internal'), ...OWN_PAGE }, access), role).toEqual(READS)
    }
    const { error } = await call(WRITE, { ...cookie('operator', 'internal'), ...OWN_PAGE }, access)
    expect(error).toContain('NOETL_CP_CONSOLE')
  })
  it('refuses the writes of a page that leaves its cookie out', async () => {
    const open = { ...OPEN, console: 'read-only' as const }
    expect(await allowed(OWN_PAGE, open)).toEqual(READS)
    expect(await allowed({ origin: 'http://localhost:8082' }, open)).toEqual(READS)
    expect(await allowed({ origin: 'https://gui.example' }, { ...open, corsOrigins: ['https://gui.example'] })).toEqual(
      WRITES,
    )
  })
})
