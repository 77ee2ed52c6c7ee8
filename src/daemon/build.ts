// Deps → the list of services of the daemon, in start order. Registering a loop or a route is one line here
// or in http/routes/index.ts. The relations between limits are asserted here, with the reason.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Config } from '../config/keys.js'
import { CpError } from '../errors.js'
import { isLoopbackName } from '../http/access.js'
import { buildRoutes } from '../http/routes/index.js'
import { createHttpServer, type HttpServer } from '../http/server.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { databaseChecks, natsCheck } from '../services/checks.js'
import { createHealthMonitor, type HealthMonitor } from '../services/health.js'
import { VERSION } from '../version.js'
import type { Deps } from './deps.js'
import { createStreamKeeper } from './streamKeeper.js'

export interface Built {
  services: Service[]
  health: HealthMonitor
  http: HttpServer
}

export function buildDaemon(deps: Deps): Built {
  const { config, metrics, log, databases, bus } = deps
  metrics.set('noetl_cp_build_info', 1, { version: VERSION })
  observeEventLoop(deps)

  const health = createHealthMonitor([...databaseChecks(databases), natsCheck(bus)], {
    clock: deps.clock,
    random: deps.random,
    onResult: (result) => metrics.set('noetl_cp_dependency_up', result.ok ? 1 : 0, { dependency: result.name }),
    onChange: (result) => {
      const line = componentLog(log, 'health')
      if (result.ok) line.info({ dependency: result.name }, 'dependency is back')
      else line.warn({ dependency: result.name, reason: result.detail }, 'dependency is down')
    },
    onError: (error) => log.error({ err: error }, 'the health monitor failed'),
  })
  const routes = buildRoutes({
    health,
    metrics,
    version: VERSION,
    startedAtMs: deps.clock.now(),
    clock: deps.clock,
    metricsOff: config.disableMetrics,
  })
  for (const route of routes) {
    metrics.declare('noetl_cp_http_requests_total', { route: route.path })
    metrics.declare('noetl_cp_http_request_seconds', { route: route.path })
  }
  const http = createHttpServer(
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
      tls:
        config.tlsCert === undefined || config.tlsKey === undefined
          ? undefined
          : { certPath: config.tlsCert, keyPath: config.tlsKey, clientCaPath: config.tlsClientCa },
      version: VERSION,
    },
    {
      log: componentLog(log, 'http'),
      onRequest: (route, status, seconds) => {
        metrics.inc('noetl_cp_http_requests_total', { route, status: `${Math.floor(status / 100)}xx` })
        metrics.observe('noetl_cp_http_request_seconds', seconds, { route })
      },
    },
  )
  const services: Service[] = [health]
  if (bus !== undefined) services.unshift(bus, createStreamKeeper(deps, bus))
  services.push(http)
  return { services, health, http }
}

/** An API without a token must not be reachable from elsewhere by accident. */
export function assertProtected(config: Config): void {
  if (isLoopbackName(config.httpHost) || config.apiToken !== undefined || config.allowOpenApi) return
  throw new CpError(
    'config',
    `refusing to listen on ${config.httpHost} without protection; set NOETL_API_TOKEN, listen on 127.0.0.1, or set NOETL_ALLOW_OPEN_API=true if the network protects it`,
  )
}

function observeEventLoop({ metrics }: Deps): void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  metrics.onCollect(() => {
    metrics.set('noetl_cp_event_loop_delay_p99_seconds', Math.max(0, delay.percentile(99) / 1e9))
    delay.reset()
  })
}
