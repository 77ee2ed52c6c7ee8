// Promise: an internal route is never open. 503 while no token is configured, 403 for a missing or wrong one,
// two tokens while one is rotated; an API without token cannot be reached from a web page, and where code can be
// started its writes need a token.
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isLoopbackName } from '../../src/domain/access/loopback.js'
import type { AccessSettings } from '../../src/http/access.js'
import { consoleRoutes } from '../../src/http/routes/console/pages.js'
import { server } from './httpHarness.js'

async function status(
  path: string,
  headers: Record<string, string>,
  access: Partial<AccessSettings>,
  method: 'GET' | 'POST' = 'GET',
): Promise<number> {
  const http = server({ access })
  const reply = await http.app.inject({ method, url: path, headers: { host: 'localhost', ...headers } })
  if (reply.statusCode >= 400)
    expect(reply.json()).toEqual({ error: expect.any(String), status: reply.statusCode, detail: expect.any(String) })
  return reply.statusCode
}

const INTERNAL = '/api/internal/things'
const PUBLIC = '/api/things/7'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('an internal route', () => {
  it('answers 503 while no token is configured, whatever is presented', async () => {
    for (const headers of [{}, bearer('x'), bearer('')]) {
      expect(await status(INTERNAL, headers, {})).toBe(503)
    }
    expect(await status(INTERNAL, bearer('api'), { apiTokens: ['api'] })).toBe(503)
  })
  const one = { internalTokens: ['s3cret'] }
  it.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['a scheme alone', { authorization: 'Bearer' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['a wrong token', bearer('wrong')],
    ['a prefix of the token', bearer('s3cre')],
    ['the token and more', bearer('s3crets')],
    ['two tokens', bearer('s3cret s3cret')],
    ['another scheme', { authorization: 'Basic s3cret' }],
    ['the bare token', { authorization: 's3cret' }],
    ['a token in another header', { 'x-api-token': 's3cret' }],
  ])('answers 403 to %s', async (_, headers) => {
    expect(await status(INTERNAL, headers, one)).toBe(403)
  })
  it('answers 403 to a token in the query', async () => {
    expect(await status(`${INTERNAL}?token=s3cret&access_token=s3cret`, {}, one)).toBe(403)
  })
  it.each(['Bearer s3cret', 'bearer s3cret', 'BEARER   s3cret  '])('answers 200 to "%s"', async (authorization) => {
    expect(await status(INTERNAL, { authorization }, one)).toBe(200)
  })
  it('takes both tokens during a rotation, and the API token never', async () => {
    const rotating = { internalTokens: ['new', 'old'], apiTokens: ['api'] }
    expect(await status(INTERNAL, bearer('new'), rotating)).toBe(200)
    expect(await status(INTERNAL, bearer('old'), rotating)).toBe(200)
    expect(await status(INTERNAL, bearer('api'), rotating)).toBe(403)
  })
})

describe('the public API with a token', () => {
  const access = { apiTokens: ['new', 'old'], internalTokens: ['internal'] }
  it('wants it, from anywhere', async () => {
    expect(await status(PUBLIC, {}, access)).toBe(403)
    expect(await status(PUBLIC, bearer('wrong'), access)).toBe(403)
    for (const token of ['new', 'old', 'internal']) {
      expect(await status(PUBLIC, { host: 'cp.example.org', ...bearer(token) }, access), token).toBe(200)
    }
  })
})

describe('the public API without a token', () => {
  it.each(['localhost', 'localhost:8082', '127.0.0.1:8082', '127.8.9.1', '[::1]:8082', 'LOCALHOST'])(
    'answers a caller that says Host: %s',
    async (host) => {
      expect(await status(PUBLIC, { host }, {})).toBe(200)
    },
  )
  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '127.0.0.1@evil.example',
    ' ',
  ])('refuses Host: "%s", as a rebound DNS name would send', async (host) => {
    expect(await status(PUBLIC, { host }, {})).toBe(403)
  })
  it.each(['https://evil.example', 'null', 'http://localhost.evil.example'])('refuses Origin: %s', async (origin) => {
    expect(await status(PUBLIC, { origin }, {})).toBe(403)
  })
  it.each([
    ['localhost:8082', 'http://localhost:8082'],
    ['localhost:8082', 'http://127.0.0.1:8082'],
    ['[::1]:8082', 'http://localhost:8082'],
    ['localhost', 'http://localhost'],
    ['localhost', 'https://localhost'],
  ])('at %s takes a page of its own, %s', async (host, origin) => {
    expect(await status(PUBLIC, { host, origin }, {})).toBe(200)
  })
  it.each([
    ['localhost:8082', 'http://localhost:3000'],
    ['localhost:8082', 'http://localhost'],
    ['localhost', 'http://localhost:8082'],
    ['127.0.0.1:8082', 'http://127.0.0.1:80820'],
  ])('at %s refuses a page of another port of this machine, %s', async (host, origin) => {
    expect(await status(PUBLIC, { host, origin }, {})).toBe(403)
  })
  it.each([
    ['same-origin', 200],
    ['none', 200],
    ['same-site', 403],
    ['cross-site', 403],
    ['anything', 403],
  ])('answers a call without Origin that the browser calls %s with %s', async (site, expected) => {
    expect(await status(PUBLIC, { 'sec-fetch-site': site }, {})).toBe(expected)
  })
  it('takes names that were allowed', async () => {
    const access = { allowedHosts: ['Cp.Example.org', 'ui.example.org:3000'] }
    expect(await status(PUBLIC, { host: 'cp.example.org:8082', origin: 'https://cp.example.org' }, access)).toBe(200)
    expect(await status(PUBLIC, { origin: 'http://ui.example.org:3000', 'sec-fetch-site': 'cross-site' }, access)).toBe(
      200,
    )
    expect(await status(PUBLIC, { origin: 'http://ui.example.org:4000' }, access)).toBe(403)
    expect(await status(PUBLIC, { host: 'other.example.org' }, access)).toBe(403)
  })
  it('looks at Host and Origin on open routes, too', async () => {
    expect(await status('/open', { host: '127.0.0.1:8082' }, {})).toBe(200)
    expect(await status('/open', { host: 'evil.example:8082' }, {})).toBe(403)
    expect(await status('/open', { origin: 'https://evil.example' }, {})).toBe(403)
  })
})

describe('the public API that the operator opened to the network', () => {
  const access = { isLocal: false }
  it('takes every name, since any may lead to it', async () => {
    for (const host of ['cp.noetl.svc:8082', '10.1.2.3:8082', 'localhost']) {
      expect(await status(PUBLIC, { host }, access), host).toBe(200)
    }
  })
  it.each([
    ['10.1.2.3:8082', 'https://evil.example', 403],
    ['10.1.2.3:8082', 'http://10.1.2.3:3000', 403],
    ['10.1.2.3:8082', 'http://10.1.2.3:8082', 200],
    // What a page sends whose own name was rebound to our address.
    ['evil.example:8082', 'http://evil.example:8082', 403],
  ])('at %s answers a page of %s with %s', async (host, origin, expected) => {
    expect(await status(PUBLIC, { host, origin }, access)).toBe(expected)
  })
  it('refuses what the browser calls cross-site', async () => {
    expect(await status(PUBLIC, { 'sec-fetch-site': 'cross-site' }, access)).toBe(403)
  })
  it('never keeps health probes out', async () => {
    expect(await status('/open', { host: '10.1.2.3', origin: 'https://evil.example' }, access)).toBe(200)
  })
})

describe('where a write could start code', () => {
  const access = { ownTokens: ['made-here'], internalTokens: ['internal'], writesNeedToken: () => true }
  it('reads stay open on this machine, a POST that only looks included', async () => {
    expect(await status(PUBLIC, {}, access)).toBe(200)
    expect(await status('/api/things/find', {}, access, 'POST')).toBe(200)
  })
  it('writes need a token', async () => {
    expect(await status('/api/things', {}, access, 'POST')).toBe(403)
    expect(await status('/api/things', bearer('wrong'), access, 'POST')).toBe(403)
    for (const token of ['made-here', 'internal']) {
      expect(await status('/api/things', bearer(token), access, 'POST'), token).toBe(200)
    }
  })
  it('a page of another site is refused with the token as well', async () => {
    expect(
      await status('/api/things', { origin: 'https://evil.example', ...bearer('made-here') }, access, 'POST'),
    ).toBe(403)
  })
  it('a daemon that has no token refuses and says what to set', async () => {
    const http = server({ access: { writesNeedToken: () => true } })
    const reply = await http.app.inject({ method: 'POST', url: '/api/things', headers: { host: 'localhost' } })
    expect(reply.json()).toEqual({
      error: expect.stringContaining('NOETL_API_TOKEN'),
      status: 403,
      detail: expect.any(String),
    })
  })
})

describe('a browser that comes by a name of others', () => {
  const read = async (path: string, host: string, accept = 'text/html,*/*', access: Partial<AccessSettings> = {}) => {
    const { app } = server({ access }, consoleRoutes({ console: { prefix: '' } }))
    return app.inject({ method: 'GET', url: path, headers: { host, accept } })
  }
  it.each(['/', '/console', '/console/', '/console/executions/7'])(
    'is shown at %s which setting lists it',
    async (path) => {
      const shown = await read(path, 'cp.example:8082')
      expect(shown.statusCode).toBe(403)
      expect(shown.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(shown.headers['cache-control']).toBe('no-store')
      expect(shown.body).toContain('<code>NOETL_CP_ALLOWED_HOSTS=cp.example</code>')
      const listed = await read(path, 'cp.example:8082', 'text/html', { allowedHosts: ['cp.example'] })
      expect(listed.body).not.toContain('NOETL_CP_ALLOWED_HOSTS')
    },
  )
  it('is given nothing that runs, and nothing that its style could not be', async () => {
    const { headers, body } = await read('/console/', 'cp.example')
    const style = /<style>(.*?)<\/style>/s.exec(body)![1]!
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(body).not.toMatch(/<script|style=|http:/)
  })
  it.each([
    '<script>alert(1)</script>',
    'a"onload=alert(1)',
    "x'&lt;",
    'evil.example/console',
    'user@evil.example',
    `${'a'.repeat(300)}.example`,
    ' ',
  ])('is not told its own name again where that is none: %s', async (host) => {
    const { statusCode, body } = await read('/console/', host)
    expect(statusCode).toBe(403)
    expect(body).toContain('a name that cannot be read')
    expect(body).not.toContain(host.trim() === '' ? 'undefined' : host)
  })
  it('is a page for readers alone: programs, assets and the API have their JSON', async () => {
    for (const [path, accept] of [
      ['/console/', 'application/json'],
      ['/console/assets/index.js', '*/*'],
      ['/openapi.json', 'text/html'],
    ] as const) {
      const refused = await read(path, 'cp.example', accept)
      expect([path, refused.statusCode]).toEqual([path, 403])
      expect(refused.json().error).toContain('NOETL_CP_ALLOWED_HOSTS')
    }
  })
})

describe('loopback names', () => {
  it.each([
    ['127.0.0.1', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.2', false],
    ['example.org', false],
  ])('%s: %s', (host, expected) => {
    expect(isLoopbackName(host)).toBe(expected)
  })
})
