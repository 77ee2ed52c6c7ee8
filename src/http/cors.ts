// Web pages of listed origins may call the API from a browser. Exact origins alone, never with the browser's own
// credentials, and never with the header by which our own console shows that it is no foreign page.
import type { FastifyInstance } from 'fastify'

const METHODS = 'GET, POST, PUT, DELETE'
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-idempotency-key, traceparent, tracestate'
const ANSWER_HEADERS =
  'retry-after, x-noetl-has-more, x-noetl-next-cursor, x-noetl-looked-until, x-noetl-limit-applied, x-noetl-failed-shards, x-noetl-state-version'
const PREFLIGHT_SECONDS = '600'

export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const listed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !listed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin)
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
      reply
        .headers({
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': PREFLIGHT_SECONDS,
        })
        .status(204)
        .send()
      return
    }
    reply.header('access-control-expose-headers', ANSWER_HEADERS)
    done()
  })
}
