// The list of routes. A route group is a function from what it needs to RouteSpecs; register it here.
import type { RouteSpec } from '../route.js'
import { type ActivityRouteDeps, activityRoutes } from './access/activity.js'
import { type SessionRouteDeps, sessionRoutes } from './access/session.js'
import { type CatalogRouteDeps, catalogRoutes } from './catalog/catalog.js'
import { type DocumentRouteDeps, documentRoutes } from './catalog/documents.js'
import { type PlaybookRouteDeps, playbookRoutes } from './catalog/playbooks.js'
import { type UsedByRouteDeps, usedByRoutes } from './catalog/usedBy.js'
import { type CommandRouteDeps, commandRoutes } from './commands/commands.js'
import { type ContainerCallbackRouteDeps, containerCallbackRoutes } from './commands/containerCallback.js'
import { type JobRouteDeps, jobRoutes } from './console/jobs.js'
import { type ConsoleRouteDeps, consoleRoutes } from './console/pages.js'
import { type StreamRouteDeps, streamRoutes } from './console/stream.js'
import { type CredentialRouteDeps, credentialRoutes } from './credentials/credentials.js'
import { type EventRouteDeps, eventRoutes } from './events/events.js'
import { type AdoptRouteDeps, adoptRoutes } from './executions/adopt.js'
import { type AnalysisRouteDeps, analysisRoutes } from './executions/analysis.js'
import { type EventStreamRouteDeps, eventStreamRoutes } from './executions/eventStream.js'
import { type EventWindowRouteDeps, eventWindowRoutes } from './executions/eventWindow.js'
import { type ExecuteRouteDeps, executeRoutes } from './executions/execute.js'
import { type ExecutionRouteDeps, executionRoutes } from './executions/executions.js'
import { type HistogramRouteDeps, histogramRoutes } from './executions/histogram.js'
import { originRoutes } from './executions/origin.js'
import { type RerunRouteDeps, rerunRoutes } from './executions/rerun.js'
import { type ResultRouteDeps, resultRoutes } from './executions/result.js'
import { type ResumeRouteDeps, resumeRoutes } from './executions/resume.js'
import { timelineRoutes } from './executions/timelines.js'
import { type VarRouteDeps, varRoutes } from './executions/vars.js'
import { type WhyStuckRouteDeps, whyStuckRoutes } from './executions/whyStuck.js'
import { type HealthRouteDeps, healthRoutes } from './health/health.js'
import { type InstanceRouteDeps, instanceRoutes } from './health/instance.js'
import { type MetricsRouteDeps, metricsRoutes } from './health/metrics.js'
import { type OverviewRouteDeps, overviewRoutes } from './health/overview.js'
import { type SeriesRouteDeps, seriesRoutes } from './health/series.js'
import { type AuditRouteDeps, auditRoutes } from './outbox/audit.js'
import { type BringBackRouteDeps, bringBackRoutes } from './outbox/bringBack.js'
import { type OutboxOperationRouteDeps, outboxOperationRoutes } from './outbox/operations.js'
import { type OutboxRouteDeps, outboxRoutes } from './outbox/outbox.js'
import { type ProjectorRouteDeps, projectorRoutes } from './projector/projector.js'
import { type ReplayRouteDeps, replayRoutes } from './replay/replay.js'
import { type ScrubRouteDeps, scrubRoutes } from './replay/scrub.js'
import { type StoredResultRouteDeps, storedResultRoutes } from './results/results.js'
import { type CleanupRouteDeps, cleanupRoutes } from './retention/cleanup.js'
import { type SqlRouteDeps, sqlRoutes } from './sql/sql.js'
import { type SnapshotRouteDeps, snapshotRoutes } from './state/snapshots.js'
import { type StateRouteDeps, stateRoutes } from './state/state.js'
import { type VerifyRouteDeps, verifyRoutes } from './state/verify.js'
import { type DeadLetterRouteDeps, deadLetterRoutes } from './subscriptions/dead.js'
import { type IngressRouteDeps, ingressRoutes } from './subscriptions/ingress.js'
import { type RuntimeRouteDeps, runtimeRoutes } from './subscriptions/runtime.js'
import { type SubscriptionRouteDeps, subscriptionRoutes } from './subscriptions/subscriptions.js'
import { type WorkerPoolRouteDeps, workerPoolRoutes } from './workers/workerPools.js'

export type RouteDeps = HealthRouteDeps &
  MetricsRouteDeps &
  SessionRouteDeps &
  ActivityRouteDeps &
  InstanceRouteDeps &
  ConsoleRouteDeps &
  StreamRouteDeps &
  JobRouteDeps &
  AuditRouteDeps &
  SnapshotRouteDeps &
  VerifyRouteDeps &
  SeriesRouteDeps &
  EventRouteDeps &
  EventStreamRouteDeps &
  EventWindowRouteDeps &
  HistogramRouteDeps &
  WhyStuckRouteDeps &
  AdoptRouteDeps &
  RerunRouteDeps &
  ResultRouteDeps &
  ResumeRouteDeps &
  ExecuteRouteDeps &
  ExecutionRouteDeps &
  AnalysisRouteDeps &
  OverviewRouteDeps &
  SqlRouteDeps &
  CatalogRouteDeps &
  PlaybookRouteDeps &
  UsedByRouteDeps &
  CommandRouteDeps &
  ContainerCallbackRouteDeps &
  DocumentRouteDeps &
  CredentialRouteDeps &
  CleanupRouteDeps &
  RuntimeRouteDeps &
  OutboxRouteDeps &
  OutboxOperationRouteDeps &
  BringBackRouteDeps &
  DeadLetterRouteDeps &
  ProjectorRouteDeps &
  StateRouteDeps &
  ReplayRouteDeps &
  ScrubRouteDeps &
  SubscriptionRouteDeps &
  IngressRouteDeps &
  WorkerPoolRouteDeps &
  StoredResultRouteDeps &
  VarRouteDeps

export function buildRoutes(deps: RouteDeps): RouteSpec[] {
  return [
    ...healthRoutes(deps),
    ...consoleRoutes(deps),
    ...metricsRoutes(deps),
    ...sessionRoutes(deps),
    ...activityRoutes(deps),
    ...instanceRoutes(deps),
    ...streamRoutes(deps),
    ...jobRoutes(deps),
    ...auditRoutes(deps),
    ...snapshotRoutes(deps),
    ...verifyRoutes(deps),
    ...seriesRoutes(deps),
    ...eventRoutes(deps),
    ...executeRoutes(deps),
    ...executionRoutes(deps),
    ...eventStreamRoutes(deps),
    ...eventWindowRoutes(deps),
    ...histogramRoutes(deps),
    ...originRoutes(deps),
    ...timelineRoutes(deps),
    ...whyStuckRoutes(deps),
    ...rerunRoutes(deps),
    ...resultRoutes(deps),
    ...resumeRoutes(deps),
    ...adoptRoutes(deps),
    ...commandRoutes(deps),
    ...containerCallbackRoutes(deps),
    ...analysisRoutes(deps),
    ...overviewRoutes(deps),
    ...sqlRoutes(deps),
    ...catalogRoutes(deps),
    ...playbookRoutes(deps),
    ...documentRoutes(deps),
    ...usedByRoutes(deps),
    ...credentialRoutes(deps),
    ...cleanupRoutes(deps),
    ...runtimeRoutes(deps),
    ...outboxRoutes(deps),
    ...outboxOperationRoutes(deps),
    ...bringBackRoutes(deps),
    ...deadLetterRoutes(deps),
    ...projectorRoutes(deps),
    ...stateRoutes(deps),
    ...replayRoutes(deps),
    ...scrubRoutes(deps),
    ...subscriptionRoutes(deps),
    ...ingressRoutes(deps),
    ...workerPoolRoutes(deps),
    ...storedResultRoutes(deps),
    ...varRoutes(deps),
  ]
}
