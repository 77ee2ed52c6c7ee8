// Promise: an internal route is never open. 503 while no token is configured, 403 for a missing or wrong one,
// two tokens while one is rotated; an open API on loopback cannot be reached from a web page.
import { describe, expect, it } from 'vitest'
import type { AccessSettings } from '../../src/http/access.js'
import { isLoopbackName } from '../../src/http/access.js'
import { server } from './httpHarness.js'

async function status(path: string, headers: Record<string, string>, access: Partial<AccessSettings>): Promise<number> {
  const http = server({ access: access as AccessSettings })
  const reply = await http.app.inject({ method: 'GET', url: path, headers: { host: 'localhost', ...headers } })
  if (reply.statusCode >= 400) expect(reply.json()).toEqual({ error: expect.any(String), status: reply.statusCode })
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
  it('takes a local origin, and names that were allowed', async () => {
    expect(await status(PUBLIC, { origin: 'http://localhost:3000' }, {})).toBe(200)
    const access = { allowedHosts: ['Cp.Example.org'] }
    expect(await status(PUBLIC, { host: 'cp.example.org:8082', origin: 'https://cp.example.org' }, access)).toBe(200)
    expect(await status(PUBLIC, { host: 'other.example.org' }, access)).toBe(403)
  })
  it('is open to every name once the operator said so', async () => {
    expect(await status(PUBLIC, { host: 'any.example', origin: 'https://any.example' }, { allowAnyHost: true })).toBe(
      200,
    )
  })
  it('never keeps health probes out', async () => {
    expect(await status('/open', { host: '10.1.2.3', origin: 'https://evil.example' }, {})).toBe(200)
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
