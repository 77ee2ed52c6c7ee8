// Promise: kind http sends what its author wrote, hands back what came, fails in the words of policies, reaches no address
// that is not for steps, takes no credential to another origin, and keeps no socket or memory.
import { networkInterfaces } from 'node:os'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { freePort } from '../support/freePort.js'
import { reply, type SeenRequest, useHttpServer } from '../support/httpServer.js'
import { credentialsOf, useTools } from '../support/toolRunner.js'
import { until } from '../support/until.js'

const other = useHttpServer((_, response) => reply(response, 200, { at: 'other' }), '127.0.0.2')
const server = useHttpServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host')
  switch (pathname) {
    case '/status':
      return reply(response, Number(searchParams.get('code')), { reason: 'asked for' }, { 'retry-after': '7' })
    case '/big-number':
      return reply(response, 200, '{"id": 9007199254740993, "price": 1.0}')
    case '/text':
      return reply(response, 200, 'plain words', { 'content-type': 'text/plain' })
    case '/untyped':
      return reply(response, 200, '{"a": [1]}', { 'content-type': 'text/plain' })
    case '/broken':
      return reply(response, 200, '{"a": ', { 'content-type': 'application/json' })
    case '/bytes':
      return reply(response, 200, Buffer.from([0xff, 0x00, 0x10]), { 'content-type': 'application/octet-stream' })
    case '/gzip':
      return reply(response, 200, gzipSync('{"packed": true}'), { 'content-encoding': 'gzip' })
    case '/bomb':
      return reply(response, 200, gzipSync(Buffer.alloc(80 * 1024 * 1024)), { 'content-encoding': 'gzip' })
    case '/endless': {
      response.writeHead(200)
      const timer = setInterval(() => response.write(Buffer.alloc(1 << 20, 'x')), 1)
      response.on('close', () => clearInterval(timer))
      return
    }
    case '/hang':
      return
    case '/cut':
      response.writeHead(200, { 'content-length': '1000' })
      response.write('some')
      response.socket?.destroy()
      return
    case '/redirect':
      return reply(response, Number(searchParams.get('code') ?? 302), '', {
        location: searchParams.get('to') ?? '/echo',
      })
    case '/around':
      return reply(response, 302, '', { location: '/around' })
    default:
      return reply(response, 200, echoOf(request))
  }
})

function echoOf({ method, url, headers, body }: SeenRequest): JsonObject {
  return { method, url, headers: headers as JsonObject, body }
}

const tools = useTools(
  {
    http: {
      forbidden: () => [{ host: '0.0.0.0', port: forbiddenPort, what: 'the API of this installation' }],
      allowed: [],
      denyPrivate: false,
    },
  },
  {
    credentials: credentialsOf({
      bearer: { type: 'bearer', token: 'token-of-the-test' },
      basic: { type: 'basic', username: 'user', password: 'pass:word' },
      header_key: { type: 'api_key', header: 'X-Own-Key', key: 'key-in-header' },
      query_key: { type: 'api_key', query: 'api_key', key: 'key-in-query' },
    }),
  },
)
let forbiddenPort = 0

async function echo(config: JsonObject): Promise<JsonObject> {
  const envelope = await tools.tool({ kind: 'http', url: server.url('/echo'), ...config })
  expect(envelope.error).toBeUndefined()
  return (envelope.data as { data: JsonObject }).data
}

describe('what is sent', () => {
  it('is a GET without body by default', async () => {
    const seen = await echo({})
    expect(seen).toMatchObject({ method: 'GET', url: '/echo', body: '' })
    expect((seen['headers'] as JsonObject)['user-agent']).toBe('noetl-cp/test')
  })

  it.each<[string, JsonObject, JsonObject]>([
    [
      'params, lists repeated, null left out',
      { params: { page: 2, tag: ['a', 'b'], none: null } },
      { url: '/echo?page=2&tag=a&tag=b' },
    ],
    ['params as a text', { params: 'a=1&b=2' }, { url: '/echo?a=1&b=2' }],
    ['data of a GET as params', { data: { q: 'x y' } }, { url: '/echo?q=x+y', body: '' }],
    [
      'data of a POST as JSON',
      { method: 'post', data: { a: [1, true, null] } },
      { method: 'POST', body: '{"a":[1,true,null]}' },
    ],
    [
      'data with query and body',
      { method: 'POST', data: { query: { a: 1 }, body: { b: 2 } } },
      { url: '/echo?a=1', body: '{"b":2}' },
    ],
    ['json, also of a list', { method: 'PUT', json: [1] }, { body: '[1]' }],
    [
      'payload',
      { method: 'POST', payload: { deep: { id: 9007199254740993n } } },
      { body: '{"deep":{"id":9007199254740993}}' },
    ],
    ['body as text', { method: 'PATCH', body: 'raw' }, { body: 'raw' }],
    ['form', { method: 'POST', form: { a: 1, b: ['x', 'y'] } }, { body: 'a=1&b=x&b=y' }],
    [
      'a map as a form when the header says so',
      { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, data: { grant_type: 'a b' } },
      { body: 'grant_type=a+b' },
    ],
  ])('%s', async (_, config, expected) => {
    expect(await echo(config)).toMatchObject(expected)
  })

  it('has the type of its body, and the headers of its author before all others', async () => {
    expect((await echo({ method: 'POST', json: {} }))['headers']).toMatchObject({ 'content-type': 'application/json' })
    expect((await echo({ headers: { 'User-Agent': 'mine', 'X-Number': 5 } }))['headers']).toMatchObject({
      'user-agent': 'mine',
      'x-number': '5',
    })
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['a bearer token', { auth: 'bearer' }, { headers: { authorization: '***' } }],
    ['a key in a header', { auth: { credential: 'header_key' } }, { headers: { 'x-own-key': '***' } }],
    ['a key in the address', { credential: 'query_key' }, { url: '/echo?api_key=***' }],
  ])('carries %s, which is not reported', async (_, config, expected) => {
    const seen = await echo(config)
    const sent = server.seen.at(-1) as SeenRequest
    expect(JSON.stringify([sent.headers, sent.url])).toMatch(/Bearer token-of-the-test|key-in-header|key-in-query/)
    for (const [name, value] of Object.entries(expected)) {
      if (name === 'url') expect(seen['url']).toBe(value)
      else expect(JSON.stringify(seen[name])).toContain('***')
    }
  })

  it('carries a name and password', async () => {
    await echo({ auth: 'basic' })
    expect(server.seen.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from('user:pass:word').toString('base64')}`)
  })

  it('is refused when it is no request', async () => {
    for (const config of [
      { url: 'ftp://host/' },
      { url: 'not an address' },
      { method: 'BREW' },
      { headers: { 'X-A': 'a\r\nX-Evil: 1' } },
      { response_type: 'xml' },
    ]) {
      const { error } = await tools.tool({ kind: 'http', url: server.url(), ...config })
      expect(error, JSON.stringify(config)).toMatchObject({ kind: 'config', retryable: false, source: 'http' })
    }
    expect((await tools.tool({ kind: 'http', url: server.url(), auth: 'nobody' })).error).toMatchObject({
      kind: 'credential',
      message: 'credential "nobody" not found',
    })
  })
})

describe('what comes back', () => {
  it('is status, headers in lower case, body parsed with every digit, address and time', async () => {
    const { data, status } = await tools.tool({ kind: 'http', url: server.url('/big-number') })
    expect(status).toBe('success')
    expect(data).toMatchObject({
      status_code: 200,
      headers: { 'content-type': 'application/json' },
      data: { id: 9007199254740993n },
      body: { id: 9007199254740993n },
      url: server.url('/big-number'),
      elapsed_ms: expect.any(Number),
    })
  })

  it.each<[string, JsonObject, unknown]>([
    ['/text', {}, 'plain words'],
    ['/untyped', {}, { a: [1] }],
    ['/untyped', { response_type: 'text' }, '{"a": [1]}'],
    ['/broken', {}, '{"a": '],
    ['/bytes', {}, '/wAQ'],
    ['/text', { response_type: 'bytes' }, Buffer.from('plain words').toString('base64')],
    ['/gzip', {}, { packed: true }],
  ])('%s %j', async (path, config, expected) => {
    const { data } = await tools.tool({ kind: 'http', url: server.url(path), ...config })
    expect((data as JsonObject)['data']).toEqual(expected)
  })

  it('is an error of kind parse when JSON was asked for and is not there', async () => {
    const { error } = await tools.tool({ kind: 'http', url: server.url('/broken'), response_type: 'json' })
    expect(error).toMatchObject({ kind: 'parse', retryable: false })
  })

  it.each([
    [400, 'client_error', false],
    [401, 'auth', false],
    [403, 'auth', false],
    [404, 'not_found', false],
    [408, 'timeout', true],
    [429, 'rate_limit', true],
    [500, 'server_error', true],
    [503, 'server_error', true],
  ])('%i is an error of kind %s, and its data is kept', async (code, kind, retryable) => {
    const envelope = await tools.tool({ kind: 'http', url: server.url(`/status?code=${code}`) })
    expect(envelope.status).toBe(code === 408 ? 'timeout' : 'error')
    expect(envelope.error).toEqual({
      kind,
      retryable,
      message: `HTTP ${code} response`,
      code: `HTTP_${code}`,
      source: 'http',
      http_status: code,
      retry_after: 7,
    })
    expect(envelope.data).toMatchObject({ status_code: code, data: { reason: 'asked for' } })
  })

  it('is never larger than 64 MB, packed or not', async () => {
    for (const path of ['/endless', '/bomb']) {
      const { error } = await tools.tool({ kind: 'http', url: server.url(path) })
      expect(error).toMatchObject({ kind: 'schema', message: expect.stringContaining('67108864 bytes') })
    }
    await until('the endless answer was let go', () => server.open() <= 2)
  })
})

describe('trouble', () => {
  it('without a connection is of kind connection', async () => {
    const port = await freePort()
    const { error } = await tools.tool({ kind: 'http', url: `http://127.0.0.1:${port}/` })
    expect(error).toMatchObject({ kind: 'connection', retryable: true, code: 'ECONNREFUSED' })
    expect((await tools.tool({ kind: 'http', url: 'http://name.invalid/' })).error).toMatchObject({
      kind: 'connection',
    })
    expect((await tools.tool({ kind: 'http', url: server.url('/cut') })).error).toMatchObject({ kind: 'connection' })
  })

  it('of a host that hangs ends with the time limit, and frees the socket', async () => {
    const before = server.open()
    const envelope = await tools.tool({ kind: 'http', url: server.url('/hang'), timeout: 0.2 })
    expect(envelope).toMatchObject({
      status: 'timeout',
      error: { kind: 'timeout', message: 'http did not end within 0.2 s' },
    })
    const silent = {
      kind: 'http',
      url: server.url('/hang'),
      spec: { timeout: { connect: 5, read: '200ms' } },
      timeout: 1,
    }
    expect((await tools.tool({ ...silent, timeout: 20 })).error).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('was silent for 0.2 s'),
    })
    await until('the sockets are gone', () => server.open() <= before)
  })

  it('by cancelling ends at once', async () => {
    const controller = new AbortController()
    const run = tools.tool({ kind: 'http', url: server.url('/hang') }, { options: { signal: controller.signal } })
    await until('the request is there', () => server.seen.at(-1)?.url === '/hang')
    controller.abort(new Error('stop'))
    expect((await run).status).toBe('error')
  })
})

describe('a redirect', () => {
  it('is followed, with the method that its status asks for', async () => {
    const post = { method: 'POST', json: { a: 1 } }
    for (const [code, method, body] of [
      [301, 'GET', ''],
      [303, 'GET', ''],
      [307, 'POST', '{"a":1}'],
      [308, 'POST', '{"a":1}'],
    ] as const) {
      expect(await echo({ url: server.url(`/redirect?code=${code}`), ...post })).toMatchObject({ method, body })
    }
  })

  it('is not followed when its author does not want it, nor for ever, nor to another protocol', async () => {
    const { error } = await tools.tool({ kind: 'http', url: server.url('/redirect'), follow_redirects: false })
    expect(error).toMatchObject({ code: 'HTTP_302' })
    expect((await tools.tool({ kind: 'http', url: server.url('/around') })).error).toMatchObject({
      message: expect.stringContaining('more than 10 redirects'),
    })
    const file = await tools.tool({ kind: 'http', url: server.url('/redirect?to=file:///etc/passwd') })
    expect(file.error).toMatchObject({ message: expect.stringContaining('file://, which is refused') })
  })

  it('takes no credential to another origin', async () => {
    for (const auth of ['bearer', 'basic', 'header_key']) {
      await tools.tool({
        kind: 'http',
        url: server.url(`/redirect?to=${encodeURIComponent(other.url('/landed'))}`),
        auth,
        headers: { Cookie: 'session=1', 'X-Other': 'kept' },
      })
      const landed = other.seen.at(-1) as SeenRequest
      expect(landed.headers).toMatchObject({ 'x-other': 'kept' })
      expect(Object.keys(landed.headers)).not.toContain('authorization')
      expect(Object.keys(landed.headers)).not.toContain('cookie')
      expect(Object.keys(landed.headers)).not.toContain('x-own-key')
    }
    await tools.tool({ kind: 'http', url: server.url('/redirect'), auth: 'bearer' })
    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer token-of-the-test')
  })
})

describe('an address that is not for steps', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://2852039166/', // 169.254.169.254 as one number
    'http://0xa9.0xfe.0xa9.0xfe/',
  ])('%s is refused', async (url) => {
    const { error } = await tools.tool({ kind: 'http', url, timeout: 5 })
    expect(error).toMatchObject({
      kind: 'config',
      code: 'ADDRESS_REFUSED',
      message: expect.stringContaining('refused'),
    })
  })

  it('is refused behind a redirect, too', async () => {
    const to = encodeURIComponent('http://169.254.169.254/')
    const { error } = await tools.tool({ kind: 'http', url: server.url(`/redirect?to=${to}`) })
    expect(error).toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  it('is every way to our own listeners', async () => {
    forbiddenPort = server.port()
    // Of this machine in its network: `[::ffff:10.1.2.3]` is written `[::ffff:a01:203]` by whoever reads addresses.
    const outside = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .flatMap(({ address }) => [address, `[::ffff:${address}]`])
    try {
      for (const host of [
        '127.0.0.1',
        'localhost',
        '127.0.0.2',
        '[::1]',
        '0.0.0.0',
        '[::ffff:127.0.0.1]',
        ...outside,
      ]) {
        const { error } = await tools.tool({ kind: 'http', url: `http://${host}:${forbiddenPort}/` })
        expect(error, host).toMatchObject({ code: 'ADDRESS_REFUSED' })
        expect(error?.['message']).toContain('the API of this installation')
      }
    } finally {
      forbiddenPort = 0
    }
  })
})

describe('an installation', () => {
  const strict = useTools({ http: { forbidden: () => [], allowed: ['127.0.0.1'], denyPrivate: true } })

  it('may refuse private addresses, and allow some of them', async () => {
    expect((await strict.tool({ kind: 'http', url: 'http://10.0.0.1/', timeout: 5 })).error).toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
    expect((await strict.tool({ kind: 'http', url: other.url() })).error).toMatchObject({ code: 'ADDRESS_REFUSED' })
    expect((await strict.tool({ kind: 'http', url: server.url() })).status).toBe('success')
  })
})

describe('many requests', () => {
  it('leave no sockets behind', async () => {
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 10 }, () => tools.tool({ kind: 'http', url: server.url() })))
    }
    expect(server.open()).toBeLessThan(30)
    await until('idle connections are closed', () => server.open() === 0, { timeoutMs: 120_000 })
  })
})
