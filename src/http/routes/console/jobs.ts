// Jobs: one act on many executions, and whatever else takes longer than an answer.

import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Job, Jobs } from '../../../services/console/jobs.js'
import {
  actOnAll,
  BULK_ACTIONS,
  type BulkAction,
  type BulkRequest,
  concerns,
  matching,
} from '../../../services/executions/bulk.js'
import type { RerunDeps } from '../../../services/executions/rerun.js'
import type { ApiReply, ApiRequest, RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'
import { FILTER_QUERY, filterOf } from '../executions/filters.js'

export interface JobRouteDeps {
  jobs: Jobs
  rerun: RerunDeps
}

const IDS_MAX = 10_000
const LIMIT_DEFAULT = 10_000
const LIMIT_MAX = 100_000
const SAMPLE = 20

const BULK: Schema = {
  type: 'object',
  required: ['action'],
  properties: {
    action: { type: 'string', enum: [...BULK_ACTIONS] },
    filter: { type: 'object', nullable: true, description: 'as the query of GET /api/executions, each value a text' },
    ids: { type: 'array', nullable: true, minItems: 1, maxItems: IDS_MAX, items: { format: 'int64' } },
    reason: { type: 'string', nullable: true, minLength: 1, maxLength: 500, description: 'needed unless dry_run' },
    dry_run: { type: 'boolean', nullable: true, description: 'only say what would be done' },
    limit: { type: 'integer', nullable: true, minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
    cascade: { type: 'boolean', nullable: true, description: 'of cancel: everything below them as well' },
    status: { type: 'string', nullable: true, enum: ['COMPLETED', 'FAILED'], description: 'of finalize' },
  },
}

export const JOB: Schema = answerOf({
  job_id: TEXT,
  kind: TEXT,
  actor: TEXT,
  reason: TEXT_OR_NULL,
  state: { type: 'string', enum: ['running', 'done', 'stopped', 'failed'] },
  started_at: TEXT,
  ended_at: TEXT_OR_NULL,
  matched: { type: 'integer', nullable: true },
  done: COUNT,
  refused: COUNT,
  failed: COUNT,
  troubles: {
    type: 'array',
    description: 'the first 100 that were refused or failed',
    items: answerOf({ target: TEXT, outcome: TEXT, error: TEXT }),
  },
  error: TEXT_OR_NULL,
  report: { type: 'object', nullable: true },
  kept: TEXT,
})

export function jobRoutes({ jobs, rerun }: JobRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/bulk',
      summary: 'Cancel, rerun, resume or finalize every execution that was named or matches a filter',
      access: 'operator',
      effect: 'write',
      bodySize: 'event',
      body: BULK,
      responses: {
        200: answerOf(
          {
            matched: COUNT,
            concerned: COUNT,
            more: FLAG,
            by_status: { type: 'object', description: 'status → number' },
            sample: { type: 'array', items: answerOf({ execution_id: TEXT, status: TEXT }) },
          },
          'of a dry run; nothing was done',
        ),
        202: JOB,
        503: 'two jobs are running, or a shard does not answer',
      },
      handler: async (request) => {
        const body = request.body as JsonObject
        const wish = wishOf(request)
        if (body['dry_run'] === true) return { body: await preview(rerun, wish, request.signal) }
        if (wish.reason === '') throw wrong('reason', 'a reason is needed; it is kept with every act')
        if (wish.action === 'finalize' && body['status'] == null) throw wrong('status', 'finalize needs a status')
        const job = jobs.begin(
          { kind: `executions.${wish.action}`, actor: wish.actor, reason: wish.reason },
          (handle) => actOnAll(rerun, wish, handle),
        )
        return jobBegun(job)
      },
    },
    {
      method: 'GET',
      path: '/api/bulk',
      summary: 'The jobs of this daemon, newest first',
      access: 'operator',
      effect: 'read',
      responses: { 200: answerOf({ jobs: { type: 'array', items: JOB } }) },
      handler: async () => ({ body: { jobs: jobs.list().map(jobJson) } }),
    },
    {
      method: 'GET',
      path: '/api/bulk/:job_id',
      summary: 'How far a job is',
      access: 'operator',
      effect: 'read',
      responses: { 200: JOB, 404: 'unknown job' },
      handler: async ({ params }) => ({ body: jobJson(jobs.get(params['job_id']!)) }),
    },
    {
      method: 'POST',
      path: '/api/bulk/:job_id/stop',
      summary: 'Stop a job; what it has done stays done',
      access: 'operator',
      effect: 'write',
      responses: { 200: JOB, 404: 'unknown job' },
      handler: async ({ params }) => ({ body: jobJson(jobs.stopJob(params['job_id']!)) }),
    },
  ]
}

async function preview(deps: RerunDeps, wish: BulkRequest, signal: AbortSignal): Promise<JsonObject> {
  const { executions, more } = await matching(deps, wish, signal)
  const byStatus: Record<string, number> = {}
  for (const { status } of executions) byStatus[status] = (byStatus[status] ?? 0) + 1
  return {
    matched: executions.length,
    concerned: executions.filter(({ status }) => concerns(wish.action, status)).length,
    more,
    by_status: byStatus,
    sample: executions.slice(0, SAMPLE).map(({ id, status }) => ({ execution_id: id, status })),
  }
}

function wishOf({ body: given, caller }: ApiRequest): BulkRequest {
  const body = given as JsonObject
  const { ids, filter, reason, limit, status } = body
  if ((ids == null) === (filter == null)) throw wrong('filter', 'give either ids or a filter')
  return {
    action: body['action'] as BulkAction,
    wanted: Array.isArray(ids)
      ? { ids: ids.map((id, index) => parseExecutionId(id, `/ids/${index}`)) }
      : { selection: filterOf(filterTexts(filter!)) },
    limit: typeof limit === 'number' ? limit : LIMIT_DEFAULT,
    reason: typeof reason === 'string' ? reason.trim() : '',
    actor: caller.actor,
    cascade: body['cascade'] === true,
    outcome: status === 'COMPLETED' ? 'COMPLETED' : 'FAILED',
  }
}

/** Neither a name that is misspelt nor a value that says nothing may turn "some" into "all". */
function filterTexts(filter: JsonValue): Record<string, string> {
  const entries = isJsonObject(filter) ? Object.entries(filter) : []
  const texts: Record<string, string> = {}
  for (const [name, value] of entries) {
    if (!Object.hasOwn(FILTER_QUERY, name) && !name.startsWith('label.')) {
      throw wrong(
        'filter',
        `there is no filter ${JSON.stringify(name)}; there are ${Object.keys(FILTER_QUERY).join(', ')}`,
      )
    }
    if (typeof value !== 'string' || value === '') throw wrong('filter', `filter.${name} must be a text`)
    if (!narrows(name, value)) throw wrong('filter', `filter.${name} leaves nothing out: ${JSON.stringify(value)}`)
    texts[name] = value
  }
  return texts
}

/** A comma or a blank alone names nothing. */
function narrows(name: string, value: string): boolean {
  return JSON.stringify(filterOf({ [name]: value })) !== JSON.stringify(filterOf({}))
}

function wrong(field: string, message: string): CpError {
  return new CpError('invalid_input', message, { details: { field } })
}

/** The answer to whoever began it. */
export function jobBegun(job: Job): ApiReply {
  return { status: 202, body: jobJson(job), about: { kind: 'job', id: job.id } }
}

function jobJson(job: Job): JsonObject {
  return {
    job_id: job.id,
    kind: job.kind,
    actor: job.actor,
    reason: job.reason,
    state: job.state,
    started_at: new Date(job.startedAt).toISOString(),
    ended_at: job.endedAt === undefined ? null : new Date(job.endedAt).toISOString(),
    matched: job.matched ?? null,
    done: job.done,
    refused: job.refused,
    failed: job.failed,
    troubles: job.troubles.map((trouble) => ({ ...trouble })),
    error: job.error ?? null,
    report: job.report ?? null,
    kept: 'in this daemon, until it stops',
  }
}
