// The list of routes. A route group is a function from what it needs to RouteSpecs; register it here.
import type { RouteSpec } from '../route.js'
import { type HealthRouteDeps, healthRoutes } from './health.js'
import { type MetricsRouteDeps, metricsRoutes } from './metrics.js'

export type RouteDeps = HealthRouteDeps & MetricsRouteDeps

export function buildRoutes(deps: RouteDeps): RouteSpec[] {
  return [...healthRoutes(deps), ...metricsRoutes(deps)]
}
