// What operators do about rows of the outbox over HTTP: try again at once, or start again what was given up. The same services
// as `noetl-cp outbox`; of many rows a job.
import { parseWireTime } from '../../../domain/events/wireTime.js'
import { parseExecutionId, parseOutboxId } from '../../../domain/ids/ids.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Jobs } from '../../../services/console/jobs.js'
import { type AdminDeps, redriveDead, retryOutbox } from '../../../services/outbox/admin.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, type Schema } from '../../schema.js'
import { JOB, jobBegun } from '../console/jobs.js'
import { ROW, rowOf } from './operations.js'

export interface BringBackRouteDeps {
  outbox: AdminDeps
  jobs: Jobs
}

const WORK_MAX = 100_000

export function bringBackRoutes({ outbox, jobs }: BringBackRouteDeps): RouteSpec[] {
  return [retryRoute(outbox), redriveRoute(outbox, jobs)]
}

const WHICH = {
  ids: { type: 'array', minItems: 1, maxItems: 1_000, items: { format: 'int64' } },
  execution_id: { format: 'int64', nullable: true },
  shard: { type: 'integer', minimum: 0, description: 'where the ids are, when there are several databases' },
  limit: { type: 'integer', minimum: 1, maximum: WORK_MAX, default: 1_000 },
  note: { type: 'string', nullable: true, maxLength: 2_000, description: 'why, for the record' },
} as const satisfies Record<string, Schema>

function retryRoute(outbox: AdminDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/outbox/retry',
    summary: 'Rows that wait after a failure are tried at once',
    access: 'operator',
    effect: 'write',
    body: { type: 'object', properties: WHICH },
    responses: { 200: answerOf({ done: COUNT }), 400: 'malformed' },
    handler: async ({ body, signal }) => ({ body: { done: await retryOutbox(outbox, workOf(outbox, body, signal)) } }),
  }
}

function redriveRoute(outbox: AdminDeps, jobs: Jobs): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/outbox/redrive',
    summary: 'Rows that were given up start again from attempt 0; a dry run tells which they would be',
    access: 'operator',
    effect: 'write',
    body: {
      type: 'object',
      properties: {
        ...WHICH,
        reason: { type: 'string', nullable: true, description: 'part of the reason, whatever the case' },
        since: { type: 'string', nullable: true, format: 'date-time', description: 'given up since' },
        dry_run: { type: 'boolean', default: false },
        as_job: {
          type: 'boolean',
          default: false,
          description: 'answer at once; GET /api/bulk/{job_id} tells how far it is',
        },
      },
    },
    responses: {
      200: answerOf({
        dry_run: FLAG,
        matched: COUNT,
        done: COUNT,
        more: FLAG,
        sample: { type: 'array', items: answerOf(ROW) },
      }),
      202: JOB,
      400: 'malformed',
      503: 'of a job: two are running',
    },
    handler: async ({ body, signal, caller }) => {
      const given = isJsonObject(body) ? body : {}
      const dryRun = given['dry_run'] === true
      const reason = typeof given['reason'] === 'string' ? given['reason'] : undefined
      const since = parseWireTime(given['since'], '/since')
      const scope = { ...workOf(outbox, body, signal), reason, since, dryRun }
      if (dryRun || given['as_job'] !== true) {
        const work = await redriveDead(outbox, scope)
        return { body: { dry_run: dryRun, ...work, sample: work.sample.map(rowOf) } }
      }
      const { note } = given
      const about = { kind: 'outbox.redrive', actor: caller.actor, reason: typeof note === 'string' ? note : null }
      const job = jobs.begin(about, async ({ job: own, signal: stop, changed }) => {
        const onProgress = ({ matched, done }: { matched: number; done: number }): void => {
          own.done = done
          // Somebody else was quicker: they are not dead any more.
          own.refused = matched - done
          changed()
        }
        const { matched, more, sample } = await redriveDead(outbox, { ...scope, signal: stop, onProgress })
        own.matched = matched
        return { more, sample: sample.map(rowOf) }
      })
      return jobBegun(job)
    },
  }
}

/** An id alone may be in several databases: then it must be said which is meant. */
function workOf({ databases }: AdminDeps, body: ApiRequest['body'], signal: AbortSignal) {
  const given = isJsonObject(body) ? body : {}
  const { ids, execution_id: execution, shard, limit } = given
  const scope = {
    ids: Array.isArray(ids) ? ids.map((id, index) => parseOutboxId(id, `/ids/${index}`)) : undefined,
    executionId:
      execution === undefined || execution === null ? undefined : parseExecutionId(execution, '/execution_id'),
    shard: typeof shard === 'number' ? shard : undefined,
    limit: typeof limit === 'number' ? limit : 1_000,
    signal,
  }
  if (
    scope.ids !== undefined &&
    scope.executionId === undefined &&
    scope.shard === undefined &&
    databases.shards.length > 1
  ) {
    throw new CpError('invalid_input', 'ids are unique per database; say which with shard or execution_id')
  }
  return scope
}
