// Promise: what comes in is bounded and strict, what goes out is lossless, every failure is {error, status},
// and neither a slow client nor a hanging handler can hold the server.
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { METRICS } from '../../src/daemon/metricTable.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { CpError } from '../../src/errors.js'
import type { RouteSpec } from '../../src/http/route.js'
import { healthRoutes } from '../../src/http/routes/health/health.js'
import { buildRoutes } from '../../src/http/routes/index.js'
import type { HttpServer } from '../../src/http/server.js'
import { systemClock } from '../../src/runtime/clock.js'
import { createMetrics } from '../../src/runtime/metrics.js'
import { createHealthMonitor } from '../../src/services/health/health.js'
import { until } from '../support/until.js'
import { ROUTES, rawRequest, server, testLimits } from './httpHarness.js'

const started: HttpServer[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((http) => http.stop(100).catch(() => undefined)))
})

async function listening(http: HttpServer): Promise<string> {
  started.push(http)
  await http.start()
  return http.url()
}

async function post(body: string | Buffer, headers: Record<string, string> = {}) {
  return server().app.inject({
    method: 'POST',
    url: '/api/echo',
    headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
    payload: body,
  })
}

describe('a body', () => {
  it('goes in and out without losing a digit', async () => {
    const text = '{"big":9223372036854775807,"float":1.0,"small":1e-07,"text":"\\u2028é","deep":[[[{}]]]}'
    const reply = await post(text)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(reply.body.replaceAll('\u2028', '\\u2028')).toBe(text)
  })
  it('needs no content type', async () => {
    const http = server()
    const reply = await http.app.inject({
      method: 'POST',
      url: '/api/echo',
      headers: { host: 'localhost' },
      payload: '{"a":1}',
    })
    expect(reply.body).toBe('{"a":1}')
  })
  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /a JSON body is needed/],
    ['broken JSON', '{"a": 1,}', /.+/],
    ['a duplicate key', '{"a":{"b":1,"b":2}}', /\/a/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
    ['too much nesting', `${'['.repeat(300)}${']'.repeat(300)}`, /.+/],
    ['the wrong type', '[]', /^the body must be an object$/],
    ['a wrong member', '{"items":[{"name":"a"},{"name":7}]}', /^\/items\/1\/name must be text$/],
    ['a missing member', '{"items":[{}]}', /^\/items\/0\/name is missing$/],
    ['too many items', '{"items":[{"name":"a"},{"name":"a"},{"name":"a"}]}', /^\/items takes at most 2 items$/],
    ['an id beyond 64 bits', '{"id":9223372036854775808}', /^\/id must be a 64-bit integer$/],
    ['an id that is not a number', '{"id":"12x"}', /^\/id must be a 64-bit integer$/],
  ])('of %s is a 400 that says where', async (_, body, expected) => {
    const reply = await post(body)
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toEqual({ error: expect.stringMatching(expected), status: 400, detail: expect.any(String) })
  })
  it('beyond the limit is a 413, announced or chunked', async () => {
    const large = `{"a":"${'x'.repeat(2_000)}"}`
    expect((await post(large)).json()).toEqual({
      error: expect.stringContaining('larger'),
      status: 413,
      detail: expect.any(String),
    })
    const url = await listening(server())
    const chunked = await fetch(`${url}/api/echo`, {
      method: 'POST',
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
  })
  it.each([
    ['no member', { type: 'object' }],
    [
      'some members, and reads others',
      { type: 'object', additionalProperties: true, properties: { a: { type: 'string' } } },
    ],
  ] as const)('of any size keeps its members where the schema names %s', async (_, body) => {
    const open: RouteSpec = { ...ROUTES.find(({ path }) => path === '/api/echo')!, bodySize: 'event', body }
    const http = server({}, [open])
    for (const length of [10, 70_000]) {
      const payload = JSON.stringify({ a: 'b', text: 'x'.repeat(length), list: [1, { deep: 2 }] })
      const reply = await http.app.inject({ method: 'POST', url: '/api/echo', payload })
      expect(reply.body).toBe(payload)
    }
  })
  it('of a stranger is not even read', async () => {
    const reply = await post('{"broken', { host: 'evil.example' })
    expect(reply.statusCode).toBe(403)
  })
  it('never reaches the prototype of anything', async () => {
    const reply = await post('{"__proto__":{"polluted":true},"constructor":1}')
    expect(reply.body).toBe('{"__proto__":{"polluted":true},"constructor":1}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('the query', () => {
  const get = (query: string) =>
    server().app.inject({ method: 'GET', url: `/api/list?${query}`, headers: { host: 'localhost' } })
  it('keeps 64-bit ids as text', async () => {
    expect((await get('id=9223372036854775807&limit=3')).json()).toEqual({ limit: '3', id: '9223372036854775807' })
  })
  it.each(['limit=0', 'limit=11', 'limit=1.5', 'limit=x', 'id=9223372036854775808', 'all=maybe', 'limit=1&limit=2'])(
    '%s is a 400 that names the parameter',
    async (query) => {
      const reply = await get(query)
      expect(reply.statusCode).toBe(400)
      expect(reply.json().error).toContain(query.split('=')[0])
    },
  )
})

describe('a failure', () => {
  it.each([
    ['GET', '/nowhere'],
    ['DELETE', '/open'],
    ['GET', '/api/internal/nowhere'],
  ] as const)('%s %s is a 404 in the shape of all errors', async (method, url) => {
    const reply = await server().app.inject({ method, url, headers: { host: 'localhost' } })
    expect(reply.statusCode).toBe(404)
    expect(reply.json()).toEqual({
      error: `there is no ${method} ${url}; see /openapi.json`,
      status: 404,
      detail: expect.any(String),
    })
  })
  it('of ours hides its details', async () => {
    const reply = await server().app.inject({ method: 'POST', url: '/api/boom', headers: { host: 'localhost' } })
    expect(reply.json()).toEqual({
      error: 'internal error; the daemon log has the details',
      status: 500,
      detail: expect.any(String),
    })
  })
  it.each([
    ['a broken percent-encoding', 'GET /%E0%A4%A HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['endless headers', `GET /open HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ])('through %s has the same shape', async (_, text, status) => {
    const url = await listening(server())
    const received = await rawRequest(url, (socket) => socket.write(text))
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toEqual({
      error: expect.any(String),
      status,
      detail: expect.any(String),
    })
  })
})

describe('a slow client', () => {
  /** One byte at a time, well within any idle timeout. */
  function drip(text: string) {
    return (socket: import('node:net').Socket) => {
      let sent = 0
      const timer = setInterval(() => {
        if (socket.destroyed || sent >= text.length) return clearInterval(timer)
        socket.write(text[sent]!)
        sent += 1
      }, 100)
      socket.on('close', () => clearInterval(timer))
    }
  }
  it.each([
    ['sending headers', '', `GET /open HTTP/1.1\r\nhost: localhost\r\nx-slow: ${'a'.repeat(500)}`],
    ['sending a body', 'POST /api/echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n', 'x'.repeat(500)],
    ['sending nothing', '', ''],
  ])('%s is cut off, and others are served meanwhile', async (_, first, rest) => {
    const url = await listening(server({ requestTimeoutMs: 1_000 }))
    const slow = rawRequest(url, (socket) => {
      if (first !== '') socket.write(first)
      drip(rest)(socket)
    })
    expect((await fetch(`${url}/open`)).status).toBe(200)
    // Ends only because the server closes it; the test's own deadline is the failure.
    expect(await slow).toMatch(/^$|^HTTP\/1.1 408 [\s\S]*"status":408/)
  })
  it('does not cost a patient caller anything: a short time limit still starts', async () => {
    const url = await listening(server({ requestTimeoutMs: 1_000 }))
    expect((await fetch(`${url}/open`)).status).toBe(200)
  })
})

describe('the signal of a request', () => {
  function observed(): { route: RouteSpec; state: { aborted: boolean; started: boolean }; release(): void } {
    const state = { aborted: false, started: false }
    let release: () => void = () => undefined
    const wait = new Promise<void>((resolve) => {
      release = resolve
    })
    const route: RouteSpec = {
      method: 'POST',
      path: '/wait',
      summary: 'waits',
      access: 'open',
      effect: 'write',
      body: {},
      responses: { 200: 'ok' },
      handler: async ({ signal }) => {
        state.started = true
        signal.addEventListener('abort', () => {
          state.aborted = true
        })
        await wait
        return { body: { aborted: signal.aborted } }
      },
    }
    return { route, state, release }
  }
  it('stays quiet while the client waits', async () => {
    const { route, state, release } = observed()
    const url = await listening(server({}, [route]))
    const reply = fetch(`${url}/wait`, { method: 'POST', body: '{}' })
    await until('it runs', () => state.started)
    // A whole round trip later the end of the body has long been noticed.
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
    release()
    expect(await (await reply).json()).toEqual({ aborted: false })
  })
  it('aborts when the client goes away', async () => {
    const { route, state, release } = observed()
    const url = await listening(server({}, [route]))
    const controller = new AbortController()
    const reply = fetch(`${url}/wait`, { method: 'POST', body: '{}', signal: controller.signal })
    await until('it runs', () => state.started)
    controller.abort()
    await expect(reply).rejects.toThrow()
    await until('the handler knows', () => state.aborted)
    release()
  })
  it('is finished, and its connection is then not waited for', async () => {
    let finish: () => void = () => undefined
    let entered: () => void = () => undefined
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    const slow: RouteSpec = {
      method: 'GET',
      path: '/slow',
      summary: 'answers when told to',
      access: 'open',
      effect: 'read',
      responses: { 200: 'ok' },
      handler: async () => {
        entered()
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { body: { ok: true } }
      },
    }
    const http = server({}, [slow])
    const url = await listening(http)
    // A connection that its client keeps open after the answer.
    const received = rawRequest(url, (socket) => socket.write('GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n'))
    await inside
    const stopped = http.stop(3_600_000)
    finish()
    await stopped
    expect(await received).toMatch(/^HTTP\/1.1 200 .*\{"ok":true\}/s)
    // The relay, which stops later, goes on naming it.
    expect(http.url()).toBe(url)
  })

  it.each([
    ['nothing', ''],
    ['half a request', 'GET /open HT'],
  ])(
    'that was never asked (%s was sent) does not keep the server from stopping',
    async (_, text) => {
      const http = server()
      const url = await listening(http)
      const received = rawRequest(url, (socket) => socket.write(text))
      expect((await fetch(`${url}/open`)).status).toBe(200)
      await http.stop(3_600_000)
      expect(await received).toBe('')
    },
    15_000,
  )

  it('does not keep the server from stopping within its deadline', async () => {
    const { route, state } = observed()
    const http = server({}, [route])
    const url = await listening(http)
    const reply = fetch(`${url}/wait`, { method: 'POST', body: '{}' }).catch(() => 'cut')
    await until('it runs', () => state.started)
    await expect(http.stop(200)).rejects.toThrow('did not finish')
    expect(await reply).toBe('cut')
  })
})

describe('the routes of the daemon', () => {
  function daemonRoutes(metricsOff = false) {
    const metrics = createMetrics(METRICS, { process: false })
    const health = createHealthMonitor([], { clock: systemClock, random: () => 0, onError: () => undefined })
    const basics = { health, metrics, metricsOff, clock: systemClock, version: '1.2.3', clusterId: 'c1', startedAt: 0 }
    // Only what the basic routes need; the others are built but not called.
    return buildRoutes(basics as unknown as Parameters<typeof buildRoutes>[0])
  }
  it('are all in the OpenAPI document, with a summary, responses and their protection', async () => {
    const routes = daemonRoutes().filter(({ access }) => access !== 'page')
    const document = (await server({}, routes).app.inject('/openapi.json')).json()
    expect(document.openapi).toMatch(/^3\./)
    for (const route of [...routes, { method: 'GET', path: '/openapi.json', access: 'open' }]) {
      const operation = document.paths[route.path.replace(/:(\w+)\+?/g, '{$1}')]?.[route.method.toLowerCase()]
      expect(operation, `${route.method} ${route.path}`).toBeDefined()
      expect(operation.summary).not.toBe('')
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0)
      expect(operation.security.length === 0, route.path).toBe(route.access === 'open')
    }
  })
  it('under /api/internal are internal or for operators, every one', () => {
    const internal = daemonRoutes().filter((route) => route.path.startsWith('/api/internal'))
    for (const route of internal) expect(['internal', 'operator'], route.path).toContain(route.access)
  })
  it('include metrics as Prometheus text, unless switched off', async () => {
    const reply = await server({}, daemonRoutes()).app.inject('/metrics')
    expect(reply.headers['content-type']).toContain('version=0.0.4')
    expect(reply.body).toContain('noetl_cp_db_queries_total{outcome="ok"} 0')
    expect((await server({}, daemonRoutes(true)).app.inject('/metrics')).statusCode).toBe(404)
  })
  it('say that the database is well while only the backlog is old', async () => {
    const check = (name: string, ok: boolean) => ({
      name,
      required: true,
      run: () => (ok ? Promise.resolve('fine') : Promise.reject(new CpError('unavailable', 'old'))),
    })
    const asked = async (postgres: boolean, outbox: boolean) => {
      const health = createHealthMonitor([check('postgres', postgres), check('nats', true), check('outbox', outbox)], {
        clock: systemClock,
        random: () => 0,
        onError: () => undefined,
      })
      await health.start()
      try {
        const { app } = server(
          {},
          healthRoutes({ health, clock: systemClock, version: '1', clusterId: 'c1', startedAt: 0 }),
        )
        return [(await app.inject('/readyz')).statusCode, (await app.inject('/api/health')).statusCode]
      } finally {
        await health.stop(1_000)
      }
    }
    expect(await asked(true, true)).toEqual([200, 200])
    expect(await asked(true, false)).toEqual([503, 200])
    expect(await asked(false, true)).toEqual([503, 503])
  })
  it('count the time that they are up, however the time of day is set meanwhile', async () => {
    const health = createHealthMonitor([], { clock: systemClock, random: () => 0, onError: () => undefined })
    let [now, monotonic] = [1_700_000_000_000, 5_000]
    const clock = { ...systemClock, now: () => now, monotonic: () => monotonic }
    const { app } = server(
      {},
      healthRoutes({ health, clock, version: '1', clusterId: 'c1', startedAt: clock.monotonic() }),
    )
    monotonic += 7_999
    for (const jump of [-86_400_000, 86_400_000 * 2]) {
      now += jump
      for (const path of ['/livez', '/api/health'])
        expect((await app.inject(path)).json()).toMatchObject({ uptime_seconds: 7 })
    }
  })
  it('answer with and without a slash at the end', async () => {
    const http = server({}, daemonRoutes())
    expect((await http.app.inject('/livez/')).statusCode).toBe(200)
    expect((await http.app.inject('/health')).json()).toEqual({ status: 'ok' })
  })
})

describe('a stream', () => {
  it('ends with its answer, also where only its head was asked for', async () => {
    let open = 0
    async function* endless(signal: AbortSignal) {
      open++
      try {
        yield { name: 'hello', data: {} }
        while (!signal.aborted) await systemClock.sleep(1_000, signal)
      } finally {
        open--
      }
    }
    const route: RouteSpec = {
      method: 'GET',
      path: '/api/endless',
      summary: 'a stream',
      access: 'public',
      effect: 'read',
      responses: { 200: 'text/event-stream' },
      handler: async ({ signal }) => ({ events: endless(signal) }),
    }
    const url = await listening(server({}, [route]))
    for (let asked = 0; asked < 3; asked++) {
      expect((await fetch(`${url}/api/endless`, { method: 'HEAD' })).status).toBe(200)
    }
    await until('nobody is listened to any more', () => open === 0)
  })
  it('writes what many listen to once, with ids as text for browsers', async () => {
    let reads = 0
    const shared: JsonObject = {
      get id() {
        reads++
        return 2n ** 60n
      },
    }
    const route: RouteSpec = {
      method: 'GET',
      path: '/api/news',
      summary: 'a stream',
      access: 'public',
      effect: 'read',
      responses: { 200: 'text/event-stream' },
      handler: async () => ({
        events: (async function* () {
          yield { name: 'news', data: shared }
        })(),
      }),
    }
    const { app } = server({}, [route])
    const listen = async (headers: Record<string, string> = {}) =>
      (await app.inject({ url: '/api/news', headers: { host: 'localhost', ...headers } })).body
    const browser = { 'sec-fetch-site': 'same-origin' }
    expect(await listen()).toBe(`event: news\ndata: {"id":${2n ** 60n}}\n\n`)
    expect(await listen(browser)).toBe(`event: news\ndata: {"id":"${2n ** 60n}"}\n\n`)
    const before = reads
    await Promise.all([listen(), listen(), listen(browser), listen(browser)])
    expect(reads).toBe(before)
  })
})

describe('searches', () => {
  it('are made few at a time, and others are answered meanwhile', async () => {
    const begun: string[] = []
    const ends = new AbortController()
    const route: RouteSpec = {
      method: 'GET',
      path: '/api/search/:word',
      summary: 'a search',
      access: 'public',
      effect: 'read',
      isSearch: true,
      responses: { 200: 'found' },
      handler: async ({ params }) => {
        begun.push(params['word']!)
        await systemClock.sleep(600_000, ends.signal)
        return { body: params['word']! }
      },
    }
    const { app } = server({ limits: { ...testLimits(), searchesMax: 2 } }, [...ROUTES, route])
    const ask = (url: string) =>
      app.inject({ url, headers: { host: 'localhost' } }).then(({ statusCode }) => statusCode)
    const words = ['a', 'b', 'c', 'd']
    const asked = words.map((word) => ask(`/api/search/${word}`))
    await until('two have begun', () => begun.length === 2)
    expect(await ask('/open')).toBe(200)
    expect(begun).toEqual(['a', 'b'])
    ends.abort()
    expect(await Promise.all(asked)).toEqual([200, 200, 200, 200])
    expect(begun).toEqual(words)
  })
})

describe('a path with a zero byte', () => {
  it('is refused before anything else is made of it', async () => {
    const reply = await server().app.inject({ url: '/api/things/%00', headers: { host: 'localhost' } })
    expect([reply.statusCode, reply.json().error]).toEqual([400, expect.stringContaining('zero byte')])
  })
})

describe('a taken port', () => {
  it('is refused in words', async () => {
    const url = await listening(server())
    const second = server({ port: Number(new URL(url).port) })
    await expect(second.start()).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('is taken'),
    })
    await second.stop(100)
  })
})

describe('TLS', () => {
  it('serves with certificate and key, and asks callers for theirs when a client CA is set', async () => {
    const at = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
    const ask = (url: string, client: https.RequestOptions) =>
      new Promise<number | string>((resolve) => {
        https
          .get(`${url}/open`, { ca: readFileSync(at('right.pem')), ...client }, (reply) => resolve(reply.statusCode!))
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      })
    const tls = { certPath: at('right.pem'), keyPath: at('right.key'), clientCaPath: undefined }
    const plain = await listening(server({ tls }))
    expect(plain).toMatch(/^https:/)
    expect(await ask(plain, {})).toBe(200)
    const mutual = await listening(server({ tls: { ...tls, clientCaPath: at('right.pem') } }))
    const own = (name: string) => ({ cert: readFileSync(at(`${name}.pem`)), key: readFileSync(at(`${name}.key`)) })
    expect(await ask(mutual, {})).not.toBe(200)
    expect(await ask(mutual, own('other'))).not.toBe(200)
    expect(await ask(mutual, own('right'))).toBe(200)
  })
})

it('the harness has a route of every access kind', () => {
  expect(new Set(ROUTES.map((route) => route.access))).toEqual(new Set(['open', 'public', 'operator', 'internal']))
})
