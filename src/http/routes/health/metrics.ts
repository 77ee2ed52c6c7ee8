// Prometheus text, version 0.0.4.
import type { Metrics } from '../../../runtime/metrics.js'
import type { RouteSpec } from '../../route.js'

export interface MetricsRouteDeps {
  metrics: Metrics
  metricsOff: boolean
}

export function metricsRoutes({ metrics, metricsOff }: MetricsRouteDeps): RouteSpec[] {
  if (metricsOff) return []
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Prometheus metrics',
      access: 'open',
      responses: { 200: 'metrics as text' },
      handler: async () => ({ text: await metrics.render(), contentType: metrics.contentType }),
    },
  ]
}
