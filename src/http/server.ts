// The HTTP server: routes on fastify, with limits against slow, large and many requests. Knows nothing of what the routes
// do. mounting.ts says what happens to a request, connections.ts, bodies.ts and answers.ts how much it may cost.
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { writeJson } from '../domain/json/write.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import { CpError } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import type { Log } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import type { Acts } from '../services/access/acts.js'
import type { AccessSettings } from './access.js'
import { type Answers, createAnswers } from './answers.js'
import { type Connections, createConnections } from './connections.js'
import { allowOrigins } from './cors.js'
import { listenError, readTlsFiles, type TlsFiles } from './listening.js'
import { mountRoutes, type ReadFlatBody } from './mounting.js'
import { openApiDocument } from './openApi.js'
import { answerProtocolError } from './protocolErrors.js'
import type { BodySize, RouteSpec } from './route.js'

export interface HttpSettings {
  host: string
  port: number
  limits: HttpLimits
  requestTimeoutMs: number
  access: AccessSettings
  tls?: TlsFiles | undefined
  /** A proxy puts it before our paths; where it is still there, it is taken away. */
  prefix?: string
  version: string
  /** What counts as a secret in an answer; null shows everything. */
  secretRules: SecretRules | null
  readFlatBody: ReadFlatBody
  /** Puts what people do on record. */
  acts: Acts
}

/** Bounds of what callers make us hold; whoever goes beyond them is refused or cut off. */
export interface HttpLimits {
  /** Largest body by the size its route declares. */
  bodyBytes: Readonly<Record<BodySize, number>>
  /** All bodies that arrive or are being worked on. */
  bodiesBytes: number
  /** All answers that wait to be read by their callers. */
  answersBytes: number
  pipelineMax: number
  /** Questions at a time that may look through very many rows. */
  searchesMax: number
}

export interface HttpHooks {
  log: Log
  /** Without seconds: a stream lasts as long as somebody listens. */
  onRequest?: (route: string, status: number, seconds: number | undefined) => void
  /** A connection was cut: too many requests at once, or answers that nobody reads. */
  onCut?: (reason: 'pipeline' | 'unread') => void
}

export interface HttpServer extends Service {
  /** Where it listens, or has listened. */
  url(): string
  /** The fastify instance, for tests that inject requests. */
  readonly app: FastifyInstance
}

const CONNECTIONS_MAX = 5_000
const HEADERS_TIMEOUT_MS = 10_000
// Of a connection on which nothing moves: longer than any answer takes, or a long replay would be cut off.
const IDLE_CONNECTION_MS = 600_000
const KEEP_ALIVE_MS = 30_000
const CUT_EVERY_MS = 50

export function createHttpServer(routes: readonly RouteSpec[], settings: HttpSettings, hooks: HttpHooks): HttpServer {
  const all = [...routes, openApiRoute(routes, settings.version)]
  const connections = createConnections(settings.limits.pipelineMax, () => hooks.onCut?.('pipeline'))
  const answers = createAnswers(settings.limits.answersBytes, hooks.log, () => hooks.onCut?.('unread'))
  const app = createApp(settings, connections, answers)
  let listening = false
  let address: Pick<AddressInfo, 'address' | 'port'> = { address: settings.host, port: settings.port }

  // Before anything can be refused: a page must be able to read why.
  allowOrigins(app, settings.access.corsOrigins)
  app.setErrorHandler(answers.sendError)
  app.setNotFoundHandler((request) => {
    throw noSuchRoute(request)
  })
  // Before the body is read, which the framework would do for unknown places as well.
  app.addHook('onRequest', (request, _, done) => done(request.is404 ? noSuchRoute(request) : undefined))
  app.addHook('onResponse', (request, reply, done) => {
    const isStream = String(reply.getHeader('content-type')).startsWith('text/event-stream')
    const seconds = isStream ? undefined : reply.elapsedTime / 1000
    hooks.onRequest?.(request.routeOptions.url ?? 'unknown', reply.statusCode, seconds)
    done()
  })
  mountRoutes(app, all, settings, answers)

  return {
    name: 'http',
    app,
    start: async () => {
      try {
        await app.listen({ host: settings.host, port: settings.port })
      } catch (error) {
        throw listenError(error, settings.host, settings.port)
      }
      app.server.maxConnections = CONNECTIONS_MAX
      address = app.server.address() as AddressInfo
      listening = true
    },
    stop: async (deadlineMs) => {
      if (!listening) return
      listening = false
      // A connection on which nothing, or half a request, was sent counts as neither idle nor in need of an answer.
      const cut = setInterval(() => {
        if (connections.unanswered() === 0) app.server.closeAllConnections()
      }, CUT_EVERY_MS)
      try {
        await withDeadline(app.close(), deadlineMs, {
          what: 'answering the open requests',
          onExpire: () => app.server.closeAllConnections(),
        })
      } finally {
        clearInterval(cut)
      }
    },
    url: () => {
      // Kept: the relay names it in its messages until it has stopped itself, which is after us.
      const host = address.address.includes(':') ? `[${address.address}]` : address.address
      return `${settings.tls === undefined ? 'http' : 'https'}://${host}:${address.port}`
    },
  }
}

function createApp(settings: HttpSettings, connections: Connections, answers: Answers): FastifyInstance {
  return fastify({
    serverFactory: (handler) => createServer(settings, connections.listener(handler)),
    // In-flight answers are finished, idle keep-alive connections are not waited for.
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    clientErrorHandler: answerProtocolError,
    frameworkErrors: answers.sendError,
    rewriteUrl: ({ url = '/' }) => readablePlace(withoutPrefix(url, settings.prefix ?? '')),
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // Bodies are checked and answers written by us. Left to itself the framework loads compilers for both at every start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
}

function noSchemas(): never {
  throw new CpError('internal', 'routes give the framework no schemas: see mounting.ts')
}

/** A place of the console that cannot be decoded gets the page, which tells what is wrong better than a line of JSON. */
function readablePlace(url: string): string {
  const [path = ''] = url.split('?', 1)
  const isPlace = path.startsWith('/console/') && !path.startsWith('/console/assets/')
  return isPlace && !isDecodable(path) ? '/console' : url
}

/** The outcome is used: a bundler takes a call without one for a call without an effect. */
function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}

function withoutPrefix(url: string, prefix: string): string {
  return prefix !== '' && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url
}

function createServer(settings: HttpSettings, listener: http.RequestListener): http.Server {
  // Node looks for slow clients only this often; its default of 30 s doubles every limit.
  // The headers must come within the time of the whole request, or Node refuses to start.
  const options = {
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, settings.requestTimeoutMs),
    connectionsCheckingInterval: Math.min(2_000, settings.requestTimeoutMs / 2),
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server =
    settings.tls === undefined
      ? http.createServer(options, listener)
      : https.createServer({ ...options, ...tlsOptions(settings.tls) }, listener)
  server.setTimeout(IDLE_CONNECTION_MS)
  return server
}

function tlsOptions(files: TlsFiles) {
  const asksCallers = files.clientCaPath !== undefined
  return { ...readTlsFiles(files), ...(asksCallers ? { requestCert: true, rejectUnauthorized: true } : {}) }
}

function noSuchRoute({ method, url }: FastifyRequest): CpError {
  return new CpError('not_found', `there is no ${method} ${url.split('?')[0]}; see /openapi.json`)
}

function openApiRoute(routes: readonly RouteSpec[], version: string): RouteSpec {
  let bytes: Buffer | undefined
  const route: RouteSpec = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    access: 'open',
    effect: 'read',
    showsAll: true,
    responses: { 200: 'the OpenAPI document' },
    handler: async () => {
      // It never changes: one text for everybody who asks.
      bytes ??= Buffer.from(writeJson(openApiDocument([...routes, route], version)))
      return { bytes }
    },
  }
  return route
}
