// Prometheus text, version 0.0.4.
import type { Clock } from '../../../runtime/clock.js'
import type { Metrics } from '../../../runtime/metrics.js'
import type { RouteSpec } from '../../route.js'

export interface MetricsRouteDeps {
  metrics: Metrics
  metricsOff: boolean
  clock: Clock
}

const FRESH_PER_SECOND = 10

export function metricsRoutes({ metrics, metricsOff, clock }: MetricsRouteDeps): RouteSpec[] {
  if (metricsOff) return []
  // Making it costs milliseconds: many who ask at once share what was made a moment ago.
  let made: Promise<Buffer> | undefined
  let second = 0
  let freshOnes = 0
  const bytes = (): Promise<Buffer> => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      freshOnes = 0
    }
    if (made === undefined || freshOnes < FRESH_PER_SECOND) {
      freshOnes += 1
      made = metrics.render().then(Buffer.from)
    }
    return made
  }
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Prometheus metrics',
      access: 'open',
      effect: 'read',
      responses: { 200: 'metrics as text' },
      handler: async () => ({ bytes: await bytes(), contentType: metrics.contentType }),
    },
  ]
}
