// Do full fold, stored snapshot and read model agree? Of one execution an answer, of many a job.
import { parseWireTime } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Jobs } from '../../../services/console/jobs.js'
import { ownerOf, type ReplayDeps, verifyExecution, wholeLog } from '../../../services/replay/replay.js'
import { type Checked, verifyMany } from '../../../services/replay/verifyMany.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, FLAG, TEXT, TEXT_OR_NULL } from '../../schema.js'
import { JOB, jobBegun } from '../console/jobs.js'

export interface VerifyRouteDeps {
  jobs: Jobs
  replay: ReplayDeps
}

const CHECKED_MAX = 100_000
const SIDE_BY_SIDE = 2
const DIFFERENCES_MAX = 100

export function verifyRoutes({ jobs, replay }: VerifyRouteDeps): RouteSpec[] {
  return [oneRoute(replay), verifyRoute(jobs, replay)]
}

function oneRoute(replay: ReplayDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/replay/verify/:execution_id',
    summary: 'Compare full fold, snapshot and read model of an execution',
    access: 'operator',
    effect: 'read',
    responses: {
      200: answerOf({
        execution_id: TEXT,
        ok: FLAG,
        status: TEXT,
        event_count: TEXT,
        checksum: TEXT,
        checks: {
          type: 'array',
          items: answerOf({ check: TEXT, ok: FLAG, skipped: FLAG, detail: TEXT, pointer: TEXT_OR_NULL }),
          description: 'skipped: there was nothing to compare with',
        },
      }),
      404: 'unknown execution',
      503: 'too busy, or the deadline passed',
    },
    handler: async ({ params, signal }) => {
      const id = parseExecutionId(params['execution_id'], 'execution_id')
      const request = { profile: 'cp' as const, query: wholeLog(await ownerOf(replay, id), id) }
      const { status, eventCount, checksum, checks } = await verifyExecution(replay, request, { signal })
      return {
        body: {
          execution_id: id,
          ok: checks.every(({ ok }) => ok),
          status,
          event_count: eventCount,
          checksum,
          checks: checks.map((check) => ({ ...check })),
        },
      }
    },
  }
}

function verifyRoute(jobs: Jobs, replay: ReplayDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/replay/verify',
    summary: 'Compare full fold, snapshot and read model of many executions',
    access: 'operator',
    effect: 'write',
    bodyOptional: true,
    body: {
      type: 'object',
      properties: {
        since: { type: 'string', nullable: true, format: 'date-time', description: 'with news since' },
        limit: { type: 'integer', nullable: true, minimum: 1, maximum: CHECKED_MAX, default: 1_000 },
      },
    },
    responses: { 202: JOB, 503: 'two jobs are running' },
    handler: async ({ body, caller }) => {
      const given = isJsonObject(body) ? body : {}
      const since = parseWireTime(given['since'], '/since') ?? null
      const limit = typeof given['limit'] === 'number' ? given['limit'] : 1_000
      const job = jobs.begin({ kind: 'replay.verify', actor: caller.actor, reason: null }, async (handle) => {
        const report = await verifyMany(replay, {
          since,
          limit,
          parallel: SIDE_BY_SIDE,
          signal: handle.signal,
          onChecked: ({ executionId, output, error }) => {
            const differs = output?.checks.find((check) => !check.ok)
            const different =
              differs === undefined ? undefined : new CpError('refused', `${differs.check}: ${differs.detail}`)
            handle.settle(executionId, error ?? different)
          },
        })
        const { checked, agreed, different, more, troubled, away } = report
        for (const { shard, error } of away) handle.settle(`shard ${shard}`, error)
        return {
          checked,
          agreed,
          different,
          more,
          failed_shards: away.map(({ shard }) => shard),
          differences: troubled.flatMap(differencesOf).slice(0, DIFFERENCES_MAX),
        }
      })
      return jobBegun(job)
    },
  }
}

function differencesOf({ executionId, output }: Checked): JsonObject[] {
  const different = output?.checks.filter(({ ok }) => !ok) ?? []
  return different.map(({ check, pointer }) => ({ execution_id: executionId, check, pointer }))
}
