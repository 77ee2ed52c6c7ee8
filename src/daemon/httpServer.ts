// The HTTP server of the daemon: settings → limits and protection, plus its metrics.
import type { Config } from '../config/keys.js'
import { CpError } from '../errors.js'
import { isLoopbackName } from '../http/access.js'
import { assertCanListen, readTlsFiles, type TlsFiles } from '../http/listening.js'
import type { RouteSpec } from '../http/route.js'
import { createHttpServer, type HttpServer } from '../http/server.js'
import { componentLog } from '../runtime/log.js'
import { VERSION } from '../version.js'
import type { Deps } from './deps.js'

export function buildHttpServer(deps: Deps, routes: readonly RouteSpec[]): HttpServer {
  const { config, metrics } = deps
  for (const route of routes) {
    metrics.declare('noetl_cp_http_requests_total', { route: route.path })
    metrics.declare('noetl_cp_http_request_seconds', { route: route.path })
  }
  return createHttpServer(
    routes,
    {
      host: config.httpHost,
      port: config.httpPort,
      bodyLimitBytes: config.bodyLimitMb * 1024 * 1024,
      requestTimeoutMs: config.requestTimeout * 1000,
      access: {
        internalTokens: deps.endpoints.internalTokens,
        apiTokens: [config.apiToken, config.apiTokenPrevious].filter((token) => token !== undefined),
        allowedHosts: config.allowedHosts,
        allowAnyHost: config.allowOpenApi,
      },
      tls: tlsFiles(config),
      version: VERSION,
    },
    {
      log: componentLog(deps.log, 'http'),
      onRequest: (route, status, seconds) => {
        metrics.inc('noetl_cp_http_requests_total', { route, status: `${Math.floor(status / 100)}xx` })
        metrics.observe('noetl_cp_http_request_seconds', seconds, { route })
      },
    },
  )
}

/** What can be known about the address and its certificate before anything is started or changed. */
export async function assertServable(config: Config): Promise<void> {
  const tls = tlsFiles(config)
  if (tls !== undefined) readTlsFiles(tls)
  await assertCanListen(config.httpHost, config.httpPort)
}

function tlsFiles(config: Config): TlsFiles | undefined {
  if (config.tlsCert === undefined || config.tlsKey === undefined) return undefined
  return { certPath: config.tlsCert, keyPath: config.tlsKey, clientCaPath: config.tlsClientCa }
}

/** An API without a token must not be reachable from elsewhere by accident. */
export function assertProtected(config: Config): void {
  if (isLoopbackName(config.httpHost) || config.apiToken !== undefined || config.allowOpenApi) return
  throw new CpError(
    'config',
    `refusing to listen on ${config.httpHost} without protection; set NOETL_API_TOKEN, listen on 127.0.0.1, or set NOETL_ALLOW_OPEN_API=true if the network protects it`,
  )
}
