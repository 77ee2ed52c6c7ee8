// What to do about executions that do not get on: what one of them waits for, and cancelling those that never ended.
import { wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { floatValue, isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import type { Clock } from '../../../runtime/clock.js'
import { type Analysis, type AnalysisDeps, analyseExecution } from '../../../services/executions/analysis.js'
import type { ExecutionsDeps } from '../../../services/executions/executions.js'
import { cancelStale } from '../../../services/executions/stale.js'
import type { RouteSpec } from '../../route.js'
import { detailOf, EXECUTION_EVENT, number } from './shapes.js'

export interface AnalysisRouteDeps {
  analysis: AnalysisDeps
  executions: ExecutionsDeps
  clock: Clock
}

const OLDER_THAN_MINUTES = 5
const MINUTES_MAX = 5_256_000

export function analysisRoutes({ analysis, executions, clock }: AnalysisRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/executions/:execution_id/analyze',
      summary: 'What an execution waits for and what to do about it, with its last events',
      access: 'public',
      effect: 'read',
      isLarge: true,
      body: { type: 'object' },
      bodyOptional: true,
      responses: {
        200: {
          type: 'object',
          properties: {
            execution_id: { type: 'string' },
            path: { type: 'string', nullable: true },
            status: { type: 'string' },
            generated_at: { type: 'string', format: 'date-time' },
            summary: { type: 'object' },
            findings: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  reason: { type: 'string' },
                  message: { type: 'string' },
                  seconds: { type: 'number', nullable: true },
                  recommendation: { type: 'string' },
                },
              },
            },
            recommendations: { type: 'array', items: { type: 'string' } },
            cloud: { type: 'object' },
            playbook: { type: 'object' },
            event_sample: { type: 'array', items: EXECUTION_EVENT },
            ai_prompt: { type: 'string' },
          },
        },
        404: 'unknown execution',
        503: 'the database is away',
      },
      handler: async ({ params }) => {
        const id = parseExecutionId(params['execution_id'], 'execution_id')
        return { body: analysisOf(await analyseExecution(analysis, id), clock.now()) }
      },
    },
    {
      method: 'POST',
      path: '/api/executions/cleanup',
      summary: 'Cancel executions that began long ago and have not ended, at most 1000 per call',
      access: 'public',
      effect: 'write',
      body: {
        type: 'object',
        properties: {
          older_than_minutes: { type: 'integer', minimum: 0, maximum: MINUTES_MAX, default: OLDER_THAN_MINUTES },
          dry_run: { type: 'boolean', default: false },
        },
      },
      bodyOptional: true,
      responses: {
        200: {
          type: 'object',
          properties: {
            cancelled_count: { type: 'integer' },
            execution_ids: { type: 'array', items: { format: 'int64' } },
            message: { type: 'string' },
          },
        },
      },
      handler: async ({ body }) => {
        const given = isJsonObject(body) ? body : {}
        const minutes = given['older_than_minutes']
        const olderThanMinutes = typeof minutes === 'number' ? minutes : OLDER_THAN_MINUTES
        const dryRun = given['dry_run'] === true
        const { executionIds, isFull } = await cancelStale(executions, { olderThanMinutes, dryRun })
        const verb = dryRun ? 'would be cancelled' : 'cancelled'
        return {
          body: {
            cancelled_count: dryRun ? 0 : executionIds.length,
            execution_ids: executionIds.map(number),
            message: `${executionIds.length} execution(s) ${verb}${isFull ? '; call again for more' : ''}`,
          },
        }
      },
    },
  ]
}

function analysisOf(found: Analysis, nowMs: number): JsonObject {
  const { row, findings } = found
  const { events, pagination, workload, ...summary } = detailOf(found, { page: 1, pageSize: 20 }, nowMs)
  return {
    execution_id: row.execution_id,
    path: row.path,
    status: row.status,
    generated_at: wireTimeFromMillis(nowMs),
    summary,
    findings: findings.map(({ reason, what, seconds, next }) => ({
      reason,
      message: what,
      seconds: seconds === undefined ? null : floatValue(seconds),
      recommendation: next,
    })),
    recommendations: findings.map(({ next }) => next),
    cloud: {},
    playbook: { path: row.path, version: row.version, catalog_id: row.catalog_id },
    event_sample: events!,
    ai_prompt: promptOf(found),
  }
}

function promptOf({ row, findings, progress }: Analysis): string {
  return [
    `Execution ${row.execution_id} of the playbook ${row.path ?? 'with an unknown path'} is ${row.status}.`,
    `Of ${progress.total} steps seen so far ${progress.completed} are completed, ${progress.failed} failed, ${progress.running} running.`,
    ...(row.error === null ? [] : [`Its error: ${row.error}`]),
    'What it waits for, most likely first:',
    ...findings.map(({ reason, what }) => `- ${reason}: ${what}`),
    'Say what is wrong and what to do next.',
  ].join('\n')
}
