// The list of routes. A route group is a function from what it needs to RouteSpecs; register it here.
import type { RouteSpec } from '../route.js'
import { type CatalogRouteDeps, catalogRoutes } from './catalog.js'
import { type CleanupRouteDeps, cleanupRoutes } from './cleanup.js'
import { type EventRouteDeps, eventRoutes } from './events.js'
import { type ExecuteRouteDeps, executeRoutes } from './execute.js'
import { type ExecutionRouteDeps, executionRoutes } from './executions.js'
import { type HealthRouteDeps, healthRoutes } from './health.js'
import { type IngressRouteDeps, ingressRoutes } from './ingress.js'
import { type MetricsRouteDeps, metricsRoutes } from './metrics.js'
import { type OutboxRouteDeps, outboxRoutes } from './outbox.js'
import { type ProjectorRouteDeps, projectorRoutes } from './projector.js'
import { type ReplayRouteDeps, replayRoutes } from './replay.js'
import { type RuntimeRouteDeps, runtimeRoutes } from './runtime.js'
import { type StateRouteDeps, stateRoutes } from './state.js'
import { type SubscriptionRouteDeps, subscriptionRoutes } from './subscriptions.js'

export type RouteDeps = HealthRouteDeps &
  MetricsRouteDeps &
  EventRouteDeps &
  ExecuteRouteDeps &
  ExecutionRouteDeps &
  CatalogRouteDeps &
  CleanupRouteDeps &
  RuntimeRouteDeps &
  OutboxRouteDeps &
  ProjectorRouteDeps &
  StateRouteDeps &
  ReplayRouteDeps &
  SubscriptionRouteDeps &
  IngressRouteDeps

export function buildRoutes(deps: RouteDeps): RouteSpec[] {
  return [
    ...healthRoutes(deps),
    ...metricsRoutes(deps),
    ...eventRoutes(deps),
    ...executeRoutes(deps),
    ...executionRoutes(deps),
    ...catalogRoutes(deps),
    ...cleanupRoutes(deps),
    ...runtimeRoutes(deps),
    ...outboxRoutes(deps),
    ...projectorRoutes(deps),
    ...stateRoutes(deps),
    ...replayRoutes(deps),
    ...subscriptionRoutes(deps),
    ...ingressRoutes(deps),
  ]
}
