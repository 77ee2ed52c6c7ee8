// A server with a few plain routes of each access kind, for tests that inject requests or open sockets.
import net from 'node:net'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import type { AccessSettings } from '../../src/http/access.js'
import type { RouteSpec } from '../../src/http/route.js'
import {
  createHttpServer,
  type HttpHooks,
  type HttpLimits,
  type HttpServer,
  type HttpSettings,
} from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import type { Acts } from '../../src/services/access/acts.js'
import { flatBody } from '../../src/services/bodies/inThread/flatBody.js'

export const OPEN_ACCESS: AccessSettings = {
  internalTokens: [],
  apiTokens: [],
  ownTokens: [],
  viewerTokens: [],
  console: 'on',
  now: () => Date.now(),
  allowedHosts: [],
  corsOrigins: [],
  isLocal: true,
  writesNeedToken: () => false,
}

/** For servers without a database. */
export const NO_RECORD: Acts = { around: (_, work) => work() }

const answer = { responses: { 200: 'ok' }, handler: async () => ({ body: { ok: true } }) }

export const ROUTES: RouteSpec[] = [
  { method: 'GET', path: '/open', summary: 'open', access: 'open', effect: 'read', ...answer },
  { method: 'GET', path: '/api/things/:id', summary: 'public', access: 'public', effect: 'read', ...answer },
  { method: 'POST', path: '/api/things', summary: 'a write', access: 'public', effect: 'write', ...answer },
  { method: 'POST', path: '/api/things/find', summary: 'a read', access: 'public', effect: 'read', ...answer },
  { method: 'GET', path: '/api/internal/things', summary: 'internal', access: 'internal', effect: 'read', ...answer },
  { method: 'GET', path: '/api/secrets', summary: 'operator reads', access: 'operator', effect: 'read', ...answer },
  { method: 'POST', path: '/api/acts', summary: 'operator acts', access: 'operator', effect: 'write', ...answer },
  {
    method: 'POST',
    path: '/api/echo',
    summary: 'answers its body',
    access: 'public',
    effect: 'write',
    body: {
      type: 'object',
      properties: {
        id: { type: 'string', format: 'int64' },
        items: {
          type: 'array',
          maxItems: 2,
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        },
      },
    },
    responses: { 200: 'the body' },
    handler: async ({ body }) => ({ body: body ?? null }),
  },
  {
    method: 'GET',
    path: '/api/list',
    summary: 'query parameters',
    access: 'public',
    effect: 'read',
    query: {
      limit: { type: 'integer', minimum: 1, maximum: 10 },
      id: { type: 'string', format: 'int64' },
      all: { type: 'boolean' },
    },
    responses: { 200: 'ok' },
    handler: async ({ query }) => ({ body: { limit: query['limit'] ?? null, id: query['id'] ?? null } }),
  },
  {
    method: 'POST',
    path: '/api/boom',
    summary: 'a mistake of ours',
    access: 'public',
    effect: 'write',
    responses: { 500: 'always' },
    handler: async () => {
      throw new Error('secret detail')
    },
  },
]

/** Sizes of bodies in bytes, where they differ from what a daemon takes. */
export function testLimits(
  bodies: Partial<HttpLimits['bodyBytes']> = {},
  limits: Partial<HttpLimits> = {},
): HttpLimits {
  return {
    bodyBytes: { small: 65_536, event: 4e6, batch: 16e6, result: 16e6, upload: 64e6, ...bodies },
    bodiesBytes: 128e6,
    answersBytes: 128e6,
    pipelineMax: 32,
    searchesMax: 10,
    ...limits,
  }
}

type TestSettings = Partial<Omit<HttpSettings, 'access'>> & { access?: Partial<AccessSettings> }

export function server(
  settings: TestSettings = {},
  routes: RouteSpec[] = ROUTES,
  hooks: Partial<HttpHooks> = {},
): HttpServer {
  return createHttpServer(
    routes,
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits({ small: 1_000 }),
      requestTimeoutMs: 30_000,
      version: '1.2.3',
      secretRules: secretRules(),
      readFlatBody: async (bytes, schema) => flatBody({ bytes, schema }),
      acts: NO_RECORD,
      ...settings,
      access: { ...OPEN_ACCESS, ...settings.access },
    },
    { log: silentLog, ...hooks },
  )
}

/** Sends text over a socket of its own and answers everything that came back until the other side closed. */
export function rawRequest(url: string, feed: (socket: net.Socket) => void): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = net.connect(Number(port), hostname, () => feed(socket))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => resolve(received))
  })
}
