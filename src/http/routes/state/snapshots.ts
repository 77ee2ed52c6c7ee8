// Snapshots: the list, and what operators do about one or about those that nobody needs.
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { type ExecutionId, parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { SEED_AGGREGATE_TYPE } from '../../../domain/replay/replaySeed.js'
import { STATE_SNAPSHOT_TYPE } from '../../../domain/state/sealedState.js'
import { CpError } from '../../../errors.js'
import type { Jobs } from '../../../services/console/jobs.js'
import { findExecution } from '../../../services/executions/executionQueries.js'
import type { ReplayDeps } from '../../../services/replay/replay.js'
import { takenJson, takeSeed } from '../../../services/replay/seeds.js'
import {
  pageOfSnapshots,
  prunable,
  pruneAll,
  rebuildSnapshotOf,
  type SnapshotDeps,
  type SnapshotListRow,
  verifySnapshotOf,
} from '../../../services/state/snapshots.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, FLAG, TEXT, TEXT_OR_NULL } from '../../schema.js'
import { JOB, jobBegun } from '../console/jobs.js'

export interface SnapshotRouteDeps {
  jobs: Jobs
  snapshots: SnapshotDeps
  replay: ReplayDeps
}

const TYPES = { state: STATE_SNAPSHOT_TYPE, replay: SEED_AGGREGATE_TYPE, all: null } as const
const LIMIT_MAX = 500

export function snapshotRoutes({ jobs, snapshots, replay }: SnapshotRouteDeps): RouteSpec[] {
  return [listRoute(snapshots), ...workRoutes(snapshots, replay), pruneRoute(jobs, snapshots)]
}

function listRoute(snapshots: SnapshotDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/snapshots',
    summary: 'Stored snapshots of live states and of replays; a cache: removing one costs time, never data',
    access: 'public',
    effect: 'read',
    query: {
      type: { type: 'string', enum: Object.keys(TYPES), default: 'all' },
      execution_id: { format: 'int64', description: 'of this execution' },
      limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: 50 },
      after: { type: 'string', maxLength: 600, description: 'next_after of the page before' },
    },
    responses: {
      200: answerOf({
        snapshots: {
          type: 'array',
          items: answerOf({
            shard: COUNT,
            type: TEXT,
            name: TEXT,
            version: TEXT,
            behind: { type: 'string', nullable: true, description: 'events since; of live states' },
            checksum: TEXT,
            stored_bytes: { type: 'integer', nullable: true },
            updated_at: TEXT,
            execution_status: TEXT_OR_NULL,
            is_subscription: { type: 'boolean', description: 'of a subscription, which has no status of an execution' },
            meta: ANY,
            snapshot_codec: { type: 'string', nullable: true, description: 'null: jsonb, written by others' },
            tenant_id: TEXT,
            organization_id: TEXT,
            created_at: TEXT,
            head: { type: 'string', nullable: true, description: 'the last version of its log' },
          }),
        },
        next_after: TEXT_OR_NULL,
        failed_shards: { type: 'array', items: COUNT },
      }),
      400: 'malformed',
    },
    handler: async ({ query }) => {
      const limit = Number(query['limit'] ?? 50)
      const id = query['execution_id']
      const { rows, failures } = await pageOfSnapshots(snapshots, {
        type: TYPES[(query['type'] ?? 'all') as keyof typeof TYPES],
        executionId: id === undefined ? null : parseExecutionId(id, 'execution_id'),
        after: afterOf(query['after']),
        limit,
      })
      const last = rows.length === limit ? rows.at(-1) : undefined
      return {
        body: {
          snapshots: rows.map(rowJson),
          next_after: last === undefined ? null : `${last.aggregate_type}:${last.aggregate_id}`,
          failed_shards: failures.map(({ shard }) => shard),
        },
      }
    },
  }
}

function workRoutes(snapshots: SnapshotDeps, replay: ReplayDeps): RouteSpec[] {
  const route = (
    word: string,
    summary: string,
    answer: RouteSpec['responses'][number],
    work: (id: ExecutionId) => Promise<JsonObject>,
  ): RouteSpec => ({
    method: 'POST',
    path: `/api/internal/snapshots/:execution_id/${word}`,
    summary,
    access: 'operator',
    effect: 'write',
    responses: { 200: answer, 404: 'unknown execution' },
    handler: async ({ params }) => ({ body: await work(parseExecutionId(params['execution_id'], 'execution_id')) }),
  })
  const verified = answerOf({ found: FLAG, ok: FLAG, version: TEXT, head: TEXT, problem: TEXT_OR_NULL, detail: TEXT })
  const taken = answerOf({
    aggregate_id: TEXT,
    version: TEXT,
    event_count: TEXT,
    events_read: COUNT,
    checksum: TEXT,
    continued: TEXT,
    state_bytes: COUNT,
    stored_bytes: COUNT,
    stored: FLAG,
  })
  return [
    route('verify', 'Hold the snapshot of a live state against the log', verified, async (id) => {
      const { problem, ...report } = await verifySnapshotOf(snapshots, id)
      return { ...report, problem: problem ?? null }
    }),
    route('take', 'Store the state of an execution for later replays to start from', taken, async (executionId) => {
      const { tenant_id: tenantId, organization_id: organizationId } = await findExecution(snapshots, executionId)
      return takenJson(await takeSeed(replay, { executionId, tenantId, organizationId }))
    }),
    route(
      'rebuild',
      'Fold the whole log and store a new snapshot of the live state',
      answerOf({ version: COUNT }),
      (id) => rebuildSnapshotOf(snapshots, id),
    ),
  ]
}

function pruneRoute(jobs: Jobs, snapshots: SnapshotDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/snapshots/prune',
    summary: 'Remove snapshots of live states, and keys of decisions, whose executions have ended or are gone',
    access: 'operator',
    effect: 'write',
    body: {
      type: 'object',
      required: ['reason'],
      properties: {
        reason: { type: 'string', minLength: 1, maxLength: 500 },
        dry_run: { type: 'boolean', default: false, description: 'only tell what they are' },
      },
    },
    responses: {
      200: answerOf(
        {
          dry_run: FLAG,
          matched: COUNT,
          decision_keys: COUNT,
          sample: {
            type: 'array',
            items: answerOf({ execution_id: TEXT, execution_status: TEXT_OR_NULL, updated_at: TEXT }),
          },
          failed_shards: { type: 'array', items: COUNT },
        },
        'of a dry run',
      ),
      202: JOB,
      503: 'two jobs are running',
    },
    handler: async ({ body, caller }) => {
      const { reason: given, dry_run: isDry } = body as JsonObject
      if (isDry === true) return { body: prunableJson(await prunable(snapshots)) }
      const reason = String(given)
      const job = jobs.begin({ kind: 'snapshots.prune', actor: caller.actor, reason }, async (handle) => {
        const onRemoved = (count: number): void => {
          handle.job.done += count
          handle.changed()
        }
        const { decisionKeys, failures } = await pruneAll(snapshots, { signal: handle.signal, onRemoved })
        for (const { shard, error } of failures) handle.settle(`shard ${shard}`, error)
        return { decision_keys: decisionKeys }
      })
      return jobBegun(job)
    },
  }
}

function prunableJson({ snapshots, decisionKeys, sample, failures }: Awaited<ReturnType<typeof prunable>>): JsonObject {
  return {
    dry_run: true,
    matched: snapshots,
    decision_keys: decisionKeys,
    sample: sample.map((row) => ({ ...row, updated_at: wireTimeFromPostgres(row.updated_at, 'updated_at') })),
    failed_shards: failures.map(({ shard }) => shard),
  }
}

function afterOf(text: string | undefined): { type: string; id: string } {
  if (text === undefined) return { type: '', id: '' }
  const colon = text.indexOf(':')
  if (colon < 0) throw new CpError('invalid_input', 'after must be next_after of the page before')
  return { type: text.slice(0, colon), id: text.slice(colon + 1) }
}

function rowJson(row: SnapshotListRow & { shard: number }): JsonObject {
  const counts = row.head !== null && row.aggregate_type === STATE_SNAPSHOT_TYPE && row.snapshot_codec !== null
  return {
    shard: row.shard,
    type: row.aggregate_type,
    name: row.aggregate_id,
    version: row.version,
    behind: counts ? String(BigInt(row.head!) - BigInt(row.version)) : null,
    checksum: row.checksum,
    stored_bytes: row.stored_bytes,
    updated_at: wireTimeFromPostgres(row.updated_at, 'updated_at'),
    execution_status: row.execution_status,
    is_subscription: row.is_subscription,
    meta: row.meta,
    snapshot_codec: row.snapshot_codec,
    tenant_id: row.tenant_id,
    organization_id: row.organization_id,
    created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
    head: row.head,
  }
}
