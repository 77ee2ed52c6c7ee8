// Some routes on a server that takes injected requests from anybody.
import { parseJson } from '../../src/domain/json/parse.js'
import { secretRules } from '../../src/domain/secrets/secretNames.js'
import type { RouteSpec } from '../../src/http/route.js'
import { createHttpServer, type HttpServer } from '../../src/http/server.js'
import { silentLog } from '../../src/runtime/log.js'
import { NO_RECORD, OPEN_ACCESS, testLimits } from '../http/httpHarness.js'

export interface RouteServer {
  readonly server: HttpServer
  get(url: string): Promise<Answer>
  post(url: string, body?: object): Promise<Answer>
  close(): Promise<void>
}

export interface Answer {
  status: number
  headers: Record<string, unknown>
  text: string
  bytes: Buffer
  body: any
}

export function openRoutes(routes: RouteSpec[]): RouteServer {
  const server = createHttpServer(
    routes,
    {
      host: '127.0.0.1',
      port: 0,
      limits: testLimits(),
      requestTimeoutMs: 30_000,
      access: { ...OPEN_ACCESS, isLocal: false, internalTokens: ['test'] },
      version: 'test',
      secretRules: secretRules(),
      acts: NO_RECORD,
      readFlatBody: () => Promise.reject(new Error('not here')),
    },
    { log: silentLog },
  )
  const ask = async (method: 'GET' | 'POST', url: string, body?: object): Promise<Answer> => {
    const headers = { authorization: 'Bearer test' }
    const {
      statusCode,
      headers: sent,
      rawPayload,
    } = await server.app.inject({
      method,
      url,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const text = rawPayload.toString()
    const isJson = String(sent['content-type'] ?? '').includes('json')
    return { status: statusCode, headers: sent, text, bytes: rawPayload, body: isJson ? parseJson(text) : undefined }
  }
  return {
    server,
    get: (url) => ask('GET', url),
    post: (url, body) => ask('POST', url, body),
    close: () => server.app.close() as Promise<unknown> as Promise<void>,
  }
}
