// What operators see of the outbox over HTTP: what waits, rows, and what was given up. The same services as `noetl-cp outbox`.
import { parseWireTime, wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseExecutionId, parseOutboxId } from '../../../domain/ids/ids.js'
import { floatValue, type JsonObject } from '../../../domain/json/value.js'
import { type Cursor, cursorText, parseCursor } from '../../../domain/outbox/cursor.js'
import { CpError } from '../../../errors.js'
import { type AdminDeps, outboxStatus, type ShardStatus, showOutboxRow } from '../../../services/outbox/admin.js'
import { deadGroups } from '../../../services/outbox/deadGroups.js'
import {
  type ListedRow,
  type OutboxPage,
  type OutboxStatus,
  pageOfDead,
  pageOfOutbox,
} from '../../../services/outbox/pages.js'
import { missingShards } from '../../missingShards.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface OutboxOperationRouteDeps {
  outbox: AdminDeps
}

const PAGE_MAX = 500
const STATUSES = ['PENDING', 'FAILED', 'IN_FLIGHT', 'PUBLISHED', 'DEAD']
const COUNT_OR_NULL: Schema = { type: 'integer', nullable: true }
const TIME_OR_NULL: Schema = { type: 'string', format: 'date-time', nullable: true }

export const ROW = {
  shard: COUNT,
  outbox_id: TEXT,
  execution_id: TEXT_OR_NULL,
  event_id: TEXT,
  subject: TEXT_OR_NULL,
  status: TEXT,
  attempts: COUNT,
  last_error: TEXT_OR_NULL,
  stream_seq: TEXT_OR_NULL,
  bytes: COUNT,
  lease_owner: TEXT_OR_NULL,
  available_at: TIME_OR_NULL,
  created_at: TIME_OR_NULL,
  published_at: TIME_OR_NULL,
  updated_at: TIME_OR_NULL,
  lease_until: TIME_OR_NULL,
}
const ROWS = answerOf(
  { rows: { type: 'array', items: answerOf(ROW) }, next_cursor: TEXT_OR_NULL },
  'X-Noetl-Failed-Shards names those that did not answer; the next page asks them again',
)

const PAGE: NonNullable<RouteSpec['query']> = {
  execution_id: { format: 'int64' },
  shard: { type: 'integer', minimum: 0 },
  cursor: { type: 'string', description: 'next_cursor of the page before' },
  limit: { type: 'integer', minimum: 1, maximum: PAGE_MAX, default: 50 },
}

export function outboxOperationRoutes({ outbox }: OutboxOperationRouteDeps): RouteSpec[] {
  return [statusRoute(outbox), ...rowRoutes(outbox), groupsRoute(outbox)]
}

function statusRoute(outbox: AdminDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/internal/outbox/status',
    summary: 'What waits to be published, by shard, and who publishes it',
    access: 'operator',
    effect: 'read',
    responses: {
      200: answerOf({
        shards: {
          type: 'array',
          items: answerOf({
            shard: COUNT,
            label: TEXT,
            error: TEXT_OR_NULL,
            backlog: ANY,
            dead: COUNT_OR_NULL,
            published: ANY,
            oldest_age_seconds: { type: 'number', nullable: true },
            published_last_minute: COUNT_OR_NULL,
            relays: { type: 'array', items: ANY },
            owners: { type: 'array', items: ANY },
          }),
        },
      }),
    },
    handler: async () => ({ body: { shards: (await outboxStatus(outbox)).map(statusOf) } }),
  }
}

function statusOf({
  shard,
  label,
  error,
  backlog,
  dead,
  published,
  oldestAgeSeconds,
  ...rest
}: ShardStatus): JsonObject {
  return {
    shard,
    label,
    error: error?.message ?? null,
    backlog: backlog === undefined ? null : { ...backlog },
    dead: dead ?? null,
    published: published === undefined ? null : { rows: published.rows, is_estimate: published.isEstimate },
    oldest_age_seconds: oldestAgeSeconds === undefined ? null : floatValue(oldestAgeSeconds),
    published_last_minute: rest.publishedLastMinute ?? null,
    relays: (rest.relays ?? []).map((relay) => ({ ...relay })),
    owners: (rest.owners ?? []).map(({ owner, lanes, live, slots }) => ({ owner, lanes, live, slots })),
  }
}

function rowRoutes(outbox: AdminDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/internal/outbox/rows',
      summary: 'Rows of the outbox, oldest first; without status and execution what is not settled',
      access: 'operator',
      effect: 'read',
      query: { ...PAGE, status: { type: 'string', enum: STATUSES } },
      responses: { 200: ROWS, 400: 'malformed' },
      handler: async ({ query }) => {
        const status = query['status'] as OutboxStatus | undefined
        return pageOf(await pageOfOutbox(outbox, { ...scopeOf(query), status }))
      },
    },
    {
      method: 'GET',
      path: '/api/internal/outbox/rows/:outbox_id',
      summary: 'One row with its message',
      access: 'operator',
      effect: 'read',
      isLarge: true,
      query: { shard: { type: 'integer', minimum: 0, description: 'when several databases have a row of this id' } },
      responses: {
        200: answerOf({ ...ROW, payload_codec: TEXT, lane: COUNT, trace: ANY, payload: ANY }),
        404: 'no such row',
      },
      handler: async ({ params, query }) => {
        const { shard } = scopeOf(query)
        const row = await showOutboxRow(outbox, parseOutboxId(params['outbox_id'], 'outbox_id'), shard)
        const { payload_codec, lane, trace, payload } = row
        return { body: { ...rowOf(row), payload_codec, lane, trace, payload } }
      },
    },
    {
      method: 'GET',
      path: '/api/internal/outbox/dead',
      summary: 'Rows that were given up, with their reasons',
      access: 'operator',
      effect: 'read',
      query: {
        ...PAGE,
        reason: { type: 'string', description: 'part of the reason, whatever the case' },
        since: { type: 'string', format: 'date-time', description: 'given up since' },
      },
      responses: { 200: ROWS, 400: 'malformed' },
      handler: async ({ query }) => {
        const since = query['since'] === undefined ? undefined : parseWireTime(query['since'], 'since')
        return pageOf(await pageOfDead(outbox, { ...scopeOf(query), reason: query['reason'], since }))
      },
    },
  ]
}

function groupsRoute(outbox: AdminDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/internal/outbox/dead/groups',
    summary: 'Rows that were given up, by reason: how many, and the newest',
    access: 'operator',
    effect: 'read',
    responses: {
      200: answerOf({
        groups: {
          type: 'array',
          items: answerOf({
            reason: TEXT,
            count: COUNT,
            newest_at: { type: 'string', format: 'date-time' },
            shard: COUNT,
            outbox_id: TEXT,
            execution_id: TEXT_OR_NULL,
          }),
        },
        failed_shards: { type: 'array', items: COUNT },
        more: { type: 'boolean', description: 'there are more reasons, or more rows than were looked at' },
      }),
    },
    handler: async () => {
      const { groups, failures, more } = await deadGroups(outbox)
      return {
        body: {
          groups: groups.map((group) => ({ ...group, newest_at: wireTimeFromPostgres(group.newest_at, 'updated_at') })),
          failed_shards: failures.map(({ shard }) => shard),
          more,
        },
      }
    },
  }
}

function scopeOf(query: ApiRequest['query']) {
  const { execution_id: execution, shard, cursor, limit } = query
  return {
    executionId: execution === undefined ? undefined : parseExecutionId(execution, 'execution_id'),
    shard: shard === undefined ? undefined : Number(shard),
    cursor: cursor === undefined ? undefined : cursorOf(cursor),
    limit: Number(limit ?? 50),
  }
}

function cursorOf(text: string): Cursor {
  const cursor = parseCursor(text, '-')
  if (cursor === undefined) throw new CpError('invalid_input', 'cursor is not one of ours; start without it')
  return cursor
}

function pageOf({ rows, next, failures }: OutboxPage) {
  return {
    headers: missingShards(failures),
    body: { rows: rows.map(rowOf), next_cursor: next === undefined ? null : cursorText(next, '-') },
  }
}

export function rowOf(row: ListedRow & { shard: number }): JsonObject {
  const { shard, outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq, bytes } = row
  const time = (text: string | null) => (text === null ? null : wireTimeFromPostgres(text, 'time'))
  return {
    ...{ shard, outbox_id, execution_id, event_id, subject, status, attempts, last_error, stream_seq, bytes },
    lease_owner: row.lease_owner,
    available_at: time(row.available_at),
    created_at: time(row.created_at),
    published_at: time(row.published_at),
    updated_at: time(row.updated_at),
    lease_until: time(row.lease_until),
  }
}
