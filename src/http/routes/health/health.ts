// Liveness, readiness, and the two health routes of the NoETL server. Liveness never looks at a dependency: a
// database outage must not restart the daemon.
import type { JsonObject } from '../../../domain/json/value.js'
import type { Clock } from '../../../runtime/clock.js'
import type { HealthMonitor } from '../../../services/health/health.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, TEXT } from '../../schema.js'

export interface HealthRouteDeps {
  health: HealthMonitor
  clock: Clock
  version: string
  /** Names the installation, as the messages of its outbox do. */
  clusterId: string
  /** By the clock that nobody sets. */
  startedAt: number
}

const READY = answerOf({ status: TEXT, checks: { type: 'object', description: 'by name: ok, required, detail, ms' } })

export function healthRoutes({ health, clock, version, clusterId, startedAt }: HealthRouteDeps): RouteSpec[] {
  const uptimeSeconds = () => Math.floor((clock.monotonic() - startedAt) / 1000)

  const ready: RouteSpec['handler'] = async () => {
    const report = health.report()
    const checks: JsonObject = {}
    for (const check of report.checks) {
      checks[check.name] = { ok: check.ok, required: check.required, detail: check.detail, ms: Math.round(check.ms) }
    }
    return { status: report.ready ? 200 : 503, body: { status: report.ready ? 'ready' : 'not ready', checks } }
  }

  return [
    {
      method: 'GET',
      path: '/livez',
      summary: 'The process answers',
      access: 'open',
      effect: 'read',
      responses: { 200: answerOf({ status: TEXT, uptime_seconds: COUNT }, 'alive') },
      handler: async () => ({ body: { status: 'alive', uptime_seconds: uptimeSeconds() } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'Every required dependency answers; one entry per check',
      access: 'open',
      effect: 'read',
      responses: { 200: READY, 503: 'not ready; the same body, with reasons' },
      handler: ready,
    },
    {
      method: 'GET',
      path: '/healthz',
      summary: 'Alias of /readyz',
      access: 'open',
      effect: 'read',
      responses: { 200: READY, 503: 'not ready' },
      handler: ready,
    },
    {
      method: 'GET',
      path: '/health',
      summary: 'Always ok, as in the NoETL server',
      access: 'open',
      effect: 'read',
      responses: { 200: answerOf({ status: TEXT }) },
      handler: async () => ({ body: { status: 'ok' } }),
    },
    {
      method: 'GET',
      path: '/api/health',
      summary: 'Health of database and NATS, as in the NoETL server',
      access: 'open',
      effect: 'read',
      responses: {
        200: answerOf(
          { status: TEXT, database: TEXT, nats: TEXT, uptime_seconds: COUNT, version: TEXT, cluster_id: TEXT },
          'healthy',
        ),
        503: 'a database does not answer',
      },
      handler: async () => {
        const checks = health.report().checks
        const nats = checks.find((check) => check.name === 'nats')
        // Of the databases alone: a backlog that grows old is not a reason to send callers away.
        const databaseOk = checks
          .filter((check) => check.required && check.name !== 'nats' && check.name !== 'outbox')
          .every((check) => check.ok)
        return {
          status: databaseOk ? 200 : 503,
          body: {
            status: databaseOk ? 'ok' : 'unhealthy',
            database: databaseOk ? 'connected' : 'disconnected',
            nats: nats?.required === false ? 'disabled' : nats?.ok ? 'connected' : 'disconnected',
            uptime_seconds: uptimeSeconds(),
            version,
            cluster_id: clusterId,
          },
        }
      },
    },
  ]
}
