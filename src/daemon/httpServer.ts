// The HTTP server of the daemon: settings → limits and protection, plus its metrics.
import type { Config } from '../config/keys.js'
import { API_PROTECTIONS, type ApiProtection } from '../domain/access/apiProtection.js'
import { isLoopbackName } from '../domain/access/loopback.js'
import { CpError } from '../errors.js'
import type { TokenSettings } from '../http/callers.js'
import { assertCanListen, readTlsFiles, type TlsFiles } from '../http/listening.js'
import type { RouteSpec } from '../http/route.js'
import { createHttpServer, type HttpLimits, type HttpServer } from '../http/server.js'
import { componentLog } from '../runtime/log.js'
import { createActs } from '../services/access/acts.js'
import { LARGE_BYTES } from '../services/bodies/largeBodies.js'
import { VERSION } from '../version.js'
import type { Deps } from './deps.js'

export function buildHttpServer(deps: Deps, routes: readonly RouteSpec[], protection: () => ApiProtection): HttpServer {
  const { config, metrics } = deps
  metrics.onCollect(() => {
    for (const level of API_PROTECTIONS)
      metrics.set('noetl_cp_api_protection', level === protection() ? 1 : 0, { level })
  })
  for (const route of routes) {
    metrics.declare('noetl_cp_http_requests_total', { route: route.path })
    metrics.declare('noetl_cp_http_request_seconds', { route: route.path })
  }
  return createHttpServer(
    routes,
    {
      host: config.httpHost,
      port: config.httpPort,
      limits: httpLimits(config),
      requestTimeoutMs: config.requestTimeoutMs,
      access: {
        ...tokenSettings(deps),
        allowedHosts: [...config.allowedHosts, ...publicHost(config)],
        corsOrigins: config.corsOrigins,
        isLocal: isLoopbackName(config.httpHost),
        writesNeedToken: () => protection() === 'writes_token',
      },
      tls: tlsFiles(config),
      prefix: consolePrefix(config),
      version: VERSION,
      secretRules: deps.secretRules,
      readFlatBody: deps.large.readFlat,
      acts: createActs({
        databases: deps.databases,
        secretRules: deps.secretRules,
        onUnfinished: (error) =>
          deps.log.error(
            { err: error },
            'an act is over and its record in noetl.operator_action could not be completed',
          ),
      }),
    },
    {
      log: componentLog(deps.log, 'http'),
      onRequest: (route, status, seconds) => {
        metrics.inc('noetl_cp_http_requests_total', { route, status: `${Math.floor(status / 100)}xx` })
        if (seconds !== undefined) metrics.observe('noetl_cp_http_request_seconds', seconds, { route })
      },
      onCut: (reason) => metrics.inc('noetl_cp_http_connections_cut_total', { reason }),
    },
  )
}

export function tokenSettings({ config, endpoints, clock }: Deps): TokenSettings {
  return {
    internalTokens: endpoints.internalTokens,
    apiTokens: endpoints.apiTokens,
    ownTokens: endpoints.ownApiToken === undefined ? [] : [endpoints.ownApiToken],
    viewerTokens: config.viewerToken === undefined ? [] : [config.viewerToken],
    console: config.consoleMode,
    now: () => clock.now(),
  }
}

/** Cookies are for encrypted connections alone wherever browsers come by one. */
export function isEncrypted({ tlsCert, publicUrl }: Config): boolean {
  return tlsCert !== undefined || publicUrl?.startsWith('https:') === true
}

/** What a proxy puts before our paths. */
export function consolePrefix({ consoleBase }: Config): string {
  return consoleBase.replace(/\/console$/, '')
}

const MB = 1024 * 1024
/** Of the connections to a database. */
const SEARCHES_SHARE = 0.3

function httpLimits(config: Config): HttpLimits {
  return {
    bodyBytes: {
      small: LARGE_BYTES,
      event: config.eventLimitMb * MB,
      batch: config.bodyLimitMb * MB,
      result: config.resultLimitMb * MB,
      upload: config.uploadLimitMb * MB,
    },
    // A single body must fit, whatever was set.
    bodiesBytes: Math.max(config.bodiesMb, config.bodyLimitMb, config.eventLimitMb, config.resultLimitMb) * MB,
    answersBytes: config.answersMb * MB,
    pipelineMax: config.pipelineMax,
    searchesMax: Math.max(1, Math.floor(config.postgresMaxConnections * SEARCHES_SHARE)),
  }
}

function publicHost({ publicUrl }: Config): string[] {
  return publicUrl === undefined ? [] : [new URL(publicUrl).host]
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
