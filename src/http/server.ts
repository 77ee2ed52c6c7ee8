// Mounts the routes on fastify: lossless strict JSON in, lossless JSON out, access checks, limits against
// slow and large clients, errors as {error, status}. Knows nothing of what the routes do.
import type { AddressInfo } from 'node:net'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { parseJsonStrict } from '../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { redact, redactJson, redactText } from '../domain/secrets/redact.js'
import { type SecretRules, secretRules } from '../domain/secrets/secretNames.js'
import { CpError, toCpError } from '../errors.js'
import { withDeadline } from '../runtime/deadline.js'
import type { Log } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { type AccessSettings, checkAccess, hasInternalToken } from './access.js'
import { STATUS_OF } from './errors.js'
import { listenError, readTlsFiles, type TlsFiles } from './listening.js'
import { openApiDocument } from './openApi.js'
import { answerProtocolError } from './protocolErrors.js'
import { checkQuery } from './query.js'
import type { ApiReply, RouteSpec } from './route.js'
import { violation } from './schema.js'

export interface HttpSettings {
  host: string
  port: number
  bodyLimitBytes: number
  requestTimeoutMs: number
  access: AccessSettings
  tls?: TlsFiles | undefined
  version: string
  /** What counts as a secret in an answer; null shows everything. */
  secretRules: SecretRules | null
}

export interface HttpHooks {
  log: Log
  onRequest?: (route: string, status: number, seconds: number) => void
}

export interface HttpServer extends Service {
  /** Where it listens, after start. */
  url(): string
  /** The fastify instance, for tests that inject requests. */
  readonly app: FastifyInstance
}

const JSON_DEPTH_MAX = 200
const CONNECTIONS_MAX = 5_000
const HEADERS_TIMEOUT_MS = 10_000
const IDLE_CONNECTION_MS = 600_000
const MESSAGE_MAX = 300
const CUT_EVERY_MS = 50

export function createHttpServer(routes: readonly RouteSpec[], settings: HttpSettings, hooks: HttpHooks): HttpServer {
  const app = createApp(settings, hooks.log)
  const all = [...routes, openApiRoute(routes, settings.version)]
  let listening = false
  let unanswered = 0
  app.server.on('request', (_, response) => {
    unanswered += 1
    response.once('close', () => {
      unanswered -= 1
    })
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, hooks.log))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]
    const error = new CpError('not_found', `there is no ${request.method} ${path}; see /openapi.json`)
    return sendError(error, request, reply, hooks.log)
  })
  app.addHook('onResponse', (request, reply, done) => {
    hooks.onRequest?.(request.routeOptions.url ?? 'unknown', reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  for (const route of all) mount(app, route, settings)

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
      listening = true
    },
    stop: async (deadlineMs) => {
      if (!listening) return
      listening = false
      // A connection on which nothing, or half a request, was sent counts as neither idle nor in need of an answer.
      const cut = setInterval(() => {
        if (unanswered === 0) app.server.closeAllConnections()
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
      const address = app.server.address() as AddressInfo
      const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
      return `${settings.tls === undefined ? 'http' : 'https'}://${host}:${address.port}`
    },
  }
}

function createApp(settings: HttpSettings, log: Log): FastifyInstance {
  const limits = {
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: settings.requestTimeoutMs,
    // Of a connection on which nothing moves: longer than any answer takes, or a long replay would be cut off.
    connectionTimeout: IDLE_CONNECTION_MS,
    keepAliveTimeout: 30_000,
    // In-flight answers are finished, idle keep-alive connections are not waited for.
    forceCloseConnections: 'idle' as const,
    return503OnClosing: true,
    clientErrorHandler: answerProtocolError,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      sendError(error, request, reply, log)
    },
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
  }
  // Node looks for slow clients only this often; its default of 30 s doubles every limit.
  // The headers must come within the time of the whole request, or Node refuses to start.
  const http = {
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, settings.requestTimeoutMs),
    connectionsCheckingInterval: Math.min(2_000, settings.requestTimeoutMs / 2),
    requestTimeout: settings.requestTimeoutMs,
  }
  if (settings.tls === undefined) return fastify({ ...limits, http } as FastifyServerOptions)
  const https = {
    ...http,
    ...readTlsFiles(settings.tls),
    ...(settings.tls.clientCaPath === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  }
  return fastify({ ...limits, https } as FastifyServerOptions)
}

function mount(app: FastifyInstance, route: RouteSpec, settings: HttpSettings): void {
  app.route({
    method: route.method,
    url: route.path,
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    // Before the body is read: a stranger's upload is not worth parsing.
    onRequest: async (request) => checkAccess(route, request.headers, settings.access),
    handler: async (request, reply) => {
      const gone = new AbortController()
      // The answer's side: the request's own `close` also comes when its body has merely been read.
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) gone.abort()
      })
      const rawBody = Buffer.isBuffer(request.body) ? request.body : undefined
      const answer = await route.handler({
        params: request.params as Record<string, string>,
        query: checkQuery(route, request.query as Record<string, unknown>),
        body: route.rawBody === true ? undefined : readBody(route, rawBody),
        rawBody,
        headers: request.headers,
        isInternal: hasInternalToken(request.headers, settings.access),
        signal: gone.signal,
      })
      return send(reply, answer, route.showsAll === true ? null : settings.secretRules)
    },
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function readBody(route: RouteSpec, bytes: Buffer | undefined): JsonValue | undefined {
  if (route.body === undefined) return undefined
  if (bytes === undefined || bytes.length === 0) {
    if (route.bodyOptional === true) return undefined
    throw new CpError('invalid_input', 'a JSON body is needed')
  }
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw new CpError('invalid_input', 'the body is not valid UTF-8')
  }
  const value = parseJsonStrict(text, { maxDepth: JSON_DEPTH_MAX })
  const found = violation(route.body, value)
  if (found !== undefined) throw new CpError('invalid_input', found)
  return value
}

function send(reply: FastifyReply, answer: ApiReply, rules: SecretRules | null): FastifyReply {
  reply.status(answer.status ?? 200)
  if (answer.headers !== undefined) reply.headers(answer.headers)
  if (answer.text !== undefined) {
    const type = answer.contentType ?? 'text/plain; charset=utf-8'
    const isJson = type.startsWith('application/json')
    return reply.type(type).send(isJson && rules !== null ? redactJson(answer.text, rules) : answer.text)
  }
  reply.type('application/json; charset=utf-8')
  if (answer.json !== undefined) {
    return reply.send(Buffer.from(answer.json.buffer, answer.json.byteOffset, answer.json.byteLength))
  }
  const body = answer.body ?? null
  return reply.send(writeJson(rules === null ? body : redact(body, rules)))
}

function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const error = fromFastify(thrown)
  const status = STATUS_OF[error.code]
  if (status >= 500 && error.code === 'internal') {
    log.error({ err: thrown, route: request.routeOptions.url }, 'request failed')
  }
  const retryAfter = error.details['retryAfterSeconds']
  if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.ceil(retryAfter)))
  const message = error.code === 'internal' ? 'internal error; the daemon log has the details' : error.message
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .send(writeJson({ error: redactText(message, MESSAGE_RULES), status, ...problemsOf(error) }))
}

/** Everything that is wrong with a playbook, for errors that are about one. */
function problemsOf(error: CpError): JsonObject {
  const problems = error.details['problems']
  return Array.isArray(problems) ? { problems: redact(problems, MESSAGE_RULES) } : {}
}

/** Messages name fields and addresses; whatever the settings say, they never need a secret. */
const MESSAGE_RULES = secretRules()

function fromFastify(error: unknown): CpError {
  if (error instanceof CpError) return error
  const code = (error as { code?: string }).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new CpError('too_large', 'the body is larger than this server takes (NOETL_CP_BODY_LIMIT_MB)', {
      cause: error,
    })
  }
  const status = (error as { statusCode?: number }).statusCode ?? 500
  if (status >= 400 && status < 500) {
    // The framework repeats what was sent, whatever its length.
    return new CpError('invalid_input', toCpError(error).message.slice(0, MESSAGE_MAX), { cause: error })
  }
  return toCpError(error)
}

function openApiRoute(routes: readonly RouteSpec[], version: string): RouteSpec {
  const route: RouteSpec = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    access: 'open',
    showsAll: true,
    responses: { 200: 'the OpenAPI document' },
    handler: async () => ({ body: openApiDocument([...routes, route], version) }),
  }
  return route
}
