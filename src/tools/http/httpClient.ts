// Sends one request and follows its redirects. Connections are kept for the next request; a body is read up to a bound,
// unpacked; credentials do not follow a redirect to another origin.
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { JsonObject } from '../../domain/json/value.js'
import type { HttpAnswer } from '../../domain/tool/httpAnswer.js'
import type { HttpRequest } from '../../domain/tool/httpRequest.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type AddressGuard, AddressRefused } from './addressGuard.js'

export interface SendOptions {
  readonly signal: AbortSignal
  readonly followRedirects: boolean
  readonly verifyTls: boolean
  readonly connectMs: number | undefined
  /** Longest silence while the answer comes. */
  readonly readMs: number | undefined
}

export interface HttpClient {
  send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer>
  close(): void
}

export const BODY_BYTES_MAX = 64 * 1024 * 1024
const REDIRECTS_MAX = 10
// Shorter than servers keep a silent connection, so that none is used while it is being closed.
const IDLE_MS = 4_000
const SOCKETS_MAX = 256
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

export function createHttpClient(guard: AddressGuard, userAgent: string): HttpClient {
  const agentOptions = { keepAlive: true, timeout: IDLE_MS, maxSockets: SOCKETS_MAX, maxFreeSockets: 64 }
  const plain = new Agent(agentOptions)
  const tls = new TlsAgent(agentOptions)
  const unverified = new TlsAgent({ ...agentOptions, rejectUnauthorized: false })

  async function exchange(request: HttpRequest, options: SendOptions): Promise<IncomingMessage> {
    const { url } = request
    const isTls = url.protocol === 'https:'
    const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
    await guard.checkLiteral(url.hostname, port)
    const headers: Record<string, string> = {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
    }
    for (const [name, value] of request.headers) headers[name] = value
    if (request.body !== undefined) headers['content-length'] = String(request.body.length)
    return new Promise((resolve, reject) => {
      const sent = (isTls ? requestHttps : requestHttp)(url, {
        method: request.method,
        agent: isTls ? (options.verifyTls ? tls : unverified) : plain,
        headers,
        signal: options.signal,
        lookup: guard.lookupFor(port),
      })
      limitConnect(sent, options.connectMs, url)
      limitSilence(sent, options.readMs, url)
      sent.once('response', resolve)
      sent.once('error', (error) => reject(Object.assign(error, { reused: sent.reusedSocket })))
      sent.end(request.body)
    })
  }

  /** A kept connection may be closed by the other side just as it is used: asking again does no harm where nothing changes. */
  async function exchangeAgain(request: HttpRequest, options: SendOptions): Promise<IncomingMessage> {
    try {
      return await exchange(request, options)
    } catch (error) {
      const { reused, code } = error as { reused?: boolean; code?: string }
      const isClosed = code === 'ECONNRESET' || code === 'EPIPE'
      if (reused !== true || !isClosed || !REPEATABLE.has(request.method)) throw error
      return exchange(request, options)
    }
  }

  return {
    send: async (first, options) => {
      const began = performance.now()
      let request = first
      try {
        for (let redirects = 0; ; redirects++) {
          const message = await exchangeAgain(request, options)
          const next = options.followRedirects ? redirected(request, message) : undefined
          if (next === undefined) return await readAnswer(message, request, options, began)
          message.destroy()
          if (redirects === REDIRECTS_MAX) {
            throw new ToolFailure(
              'client_error',
              `more than ${REDIRECTS_MAX} redirects, the last to ${next.url.origin}`,
            )
          }
          request = next
        }
      } catch (error) {
        throw options.signal.aborted ? options.signal.reason : toHttpFailure(error, request.url)
      }
    },
    close: () => {
      for (const agent of [plain, tls, unverified]) agent.destroy()
    },
  }
}

function limitConnect(sent: ClientRequest, connectMs: number | undefined, url: URL): void {
  if (connectMs === undefined) return
  const timer = setTimeout(() => {
    sent.destroy(new ToolFailure('timeout', `no connection to ${url.host} within ${connectMs / 1000} s`))
  }, connectMs)
  const done = (): void => clearTimeout(timer)
  sent.once('socket', (socket) => {
    if (!socket.connecting) return done()
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', done)
  })
  sent.once('close', done)
}

/** Until the answer begins; readAnswer goes on from there. */
function limitSilence(sent: ClientRequest, readMs: number | undefined, url: URL): void {
  if (readMs === undefined) return
  const timer = setTimeout(() => sent.destroy(silent(url, readMs)), readMs)
  sent.once('response', () => clearTimeout(timer))
  sent.once('close', () => clearTimeout(timer))
}

function silent(url: URL, readMs: number): ToolFailure {
  return new ToolFailure('timeout', `${url.host} was silent for ${readMs / 1000} s`)
}

/** The request that a redirect asks for; undefined when it is none. */
function redirected(request: HttpRequest, message: IncomingMessage): HttpRequest | undefined {
  const status = message.statusCode ?? 0
  const location = message.headers.location
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  let url: URL
  try {
    url = new URL(location, request.url)
  } catch {
    throw new ToolFailure('client_error', `HTTP ${status} leads to an address that cannot be read`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFailure('client_error', `HTTP ${status} leads to ${url.protocol}//, which is refused`)
  }
  const headers = new Map(request.headers)
  if (url.origin !== request.url.origin) for (const name of request.credentialHeaders) headers.delete(name)
  const losesBody = status === 303 ? request.method !== 'HEAD' : status < 303 && request.method === 'POST'
  if (!losesBody) return { ...request, url, headers }
  headers.delete('content-type')
  return { ...request, method: 'GET', url, headers, body: undefined }
}

async function readAnswer(
  message: IncomingMessage,
  request: HttpRequest,
  options: SendOptions,
  began: number,
): Promise<HttpAnswer> {
  if (options.readMs !== undefined) {
    const { readMs } = options
    message.setTimeout(readMs, () => message.destroy(silent(request.url, readMs)))
  }
  const body = await readBody(message, request.url)
  return {
    status: message.statusCode ?? 0,
    headers: plainHeaders(message),
    body,
    url: request.url.href,
    elapsedMs: Math.round(performance.now() - began),
  }
}

async function readBody(message: IncomingMessage, url: URL): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  const source = unpacked(message)
  try {
    for await (const piece of source) {
      bytes += (piece as Buffer).length
      if (bytes > BODY_BYTES_MAX) {
        throw new ToolFailure('schema', `the answer of ${url.host} is larger than ${BODY_BYTES_MAX} bytes`)
      }
      pieces.push(piece as Buffer)
    }
  } finally {
    // Without effect on a body that was read to its end.
    if (!message.complete) message.destroy()
  }
  return Buffer.concat(pieces)
}

function unpacked(message: IncomingMessage): AsyncIterable<unknown> {
  const unpack = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }
  const make = unpack[(message.headers['content-encoding'] ?? '').trim().toLowerCase() as keyof typeof unpack]
  if (make === undefined) return message
  const unpacker = make()
  message.once('error', (error) => unpacker.destroy(error))
  return message.pipe(unpacker)
}

/** Several of the same name are joined; cookies, which cannot be, by line breaks. */
function plainHeaders(message: IncomingMessage): JsonObject {
  const headers: JsonObject = {}
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join('\n') : value
  }
  return headers
}

function toHttpFailure(error: unknown, url: URL): ToolFailure {
  if (error instanceof ToolFailure) return error
  const { message, code } = error as NodeJS.ErrnoException
  const refused = error instanceof AddressRefused || (error as Error).cause instanceof AddressRefused
  if (refused) return new ToolFailure('config', message, { code: 'ADDRESS_REFUSED', cause: error })
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN') {
    return new ToolFailure('config', `a header holds what no header may hold: ${message}`, { code, cause: error })
  }
  if (code !== undefined && /^(Z_|ERR_BROTLI|ERR__)/.test(code)) {
    return new ToolFailure('parse', `the answer of ${url.host} cannot be unpacked: ${message}`, { code, cause: error })
  }
  const isCertificate = code !== undefined && /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/.test(code)
  return new ToolFailure('connection', `cannot reach ${url.host}: ${message === '' ? code : message}`, {
    code,
    ...(isCertificate ? { retryable: false } : {}),
    cause: error,
  })
}
