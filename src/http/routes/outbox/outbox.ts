// /api/internal/outbox/*: the NoETL server's routes for outside publishers, with leases behind them; and the
// public route where consumers fetch what was too large for the stream.
import { parseEventId, parseExecutionId, parseInt64, parseOutboxId } from '../../../domain/ids/ids.js'
import { integerValue, isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  type ClaimedRow,
  claimOutbox,
  markOutboxFailed,
  markOutboxPublished,
  type OutboxClaimDeps,
  outboxPayload,
  pendingOutbox,
} from '../../../services/outbox/claims.js'
import { missingShards } from '../../missingShards.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, ID, ID_OR_NULL, type Schema, TEXT } from '../../schema.js'

export interface OutboxRouteDeps {
  outbox: OutboxClaimDeps
}

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000
const MARKS_MAX = 10_000
const DELAY_DEFAULT_SECONDS = 300
const DELAY_MAX_SECONDS = 86_400

const ids: Schema = { type: 'array', minItems: 1, maxItems: MARKS_MAX, items: { format: 'int64' } }
const shard: Schema = { type: 'integer', minimum: 0, description: 'which database, when there are several' }

export function outboxRoutes({ outbox }: OutboxRouteDeps): RouteSpec[] {
  return [claimRoute(outbox), publishedRoute(outbox), failedRoute(outbox), pendingRoute(outbox), payloadRoute(outbox)]
}

function claimRoute(outbox: OutboxClaimDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/outbox/claim',
    summary: 'Claim rows to publish, under a lease; only of lanes that no relay holds, in order per execution',
    access: 'internal',
    effect: 'write',
    bodyOptional: true,
    body: {
      type: 'object',
      properties: {
        limit: { type: 'integer', default: LIMIT_DEFAULT, description: `clamped into 1..${LIMIT_MAX}` },
        shard,
      },
    },
    responses: {
      200: {
        type: 'object',
        properties: {
          rows: { type: 'array', description: 'by outbox_id; lease_token belongs into the marks' },
          claimed: { type: 'integer' },
        },
      },
      400: 'malformed',
      503: 'no database answers',
    },
    handler: async ({ body }) => {
      const request = isJsonObject(body) ? body : {}
      const limit = Math.min(LIMIT_MAX, Math.max(1, Number(request['limit'] ?? LIMIT_DEFAULT)))
      const { rows, failedShards } = await claimOutbox(outbox, { limit, shard: shardOf(request) })
      const several = outbox.databases.shards.length > 1
      return {
        headers: missingShards(failedShards),
        body: {
          rows: rows.map((row) => (several ? { ...rowJson(row), shard: row.shard } : rowJson(row))),
          claimed: rows.length,
        },
      }
    },
  }
}

function publishedRoute(outbox: OutboxClaimDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/outbox/mark-published',
    summary: 'Claimed rows are in the stream; those that were not the caller’s to mark are named',
    access: 'internal',
    effect: 'write',
    bodySize: 'event',
    body: {
      type: 'object',
      required: ['outbox_ids'],
      properties: {
        outbox_ids: ids,
        lease_tokens: { ...ids, minItems: 0, description: 'one per id; without them only running leases count' },
        stream_seqs: { ...ids, minItems: 0, description: 'one per id: where the stream put it, for audits' },
        shard,
      },
    },
    responses: {
      200: { type: 'object', properties: { marked: { type: 'integer' }, not_marked: { type: 'array' } } },
      400: 'empty or malformed',
    },
    handler: async ({ body }) => {
      const request = body as JsonObject
      const { marked, notMarked } = await markOutboxPublished(outbox, {
        outboxIds: idList(request, 'outbox_ids') ?? [],
        leaseTokens: idList(request, 'lease_tokens'),
        streamSeqs: idList(request, 'stream_seqs'),
        shard: shardOf(request),
      })
      return { body: { marked, not_marked: notMarked.map((id) => integerValue(BigInt(id))) } }
    },
  }
}

function failedRoute(outbox: OutboxClaimDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/internal/outbox/mark-failed',
    summary: 'A claimed row could not be published; it waits 1, 2, 4 … 256 s by its own attempts, or is dead',
    access: 'internal',
    effect: 'write',
    bodySize: 'event',
    body: {
      type: 'object',
      required: ['outbox_id', 'error'],
      properties: {
        outbox_id: { format: 'int64' },
        error: { type: 'string', minLength: 1 },
        attempts: { type: 'integer', description: 'ignored: the row knows' },
        max_delay_seconds: {
          type: 'integer',
          default: DELAY_DEFAULT_SECONDS,
          description: `longest wait; below 1 counts as 1, above ${DELAY_MAX_SECONDS} as that`,
        },
        lease_token: { format: 'int64', nullable: true },
        shard,
      },
    },
    responses: {
      200: { type: 'object', properties: { marked: { type: 'boolean' }, available_at_in: { type: 'integer' } } },
      400: 'empty error or malformed',
    },
    handler: async ({ body }) => {
      const request = body as JsonObject
      const error = String(request['error'])
      if (error.trim() === '') throw new CpError('invalid_input', '/error must not be empty')
      const token = request['lease_token']
      const { marked, availableInSeconds } = await markOutboxFailed(outbox, {
        outboxId: parseOutboxId(request['outbox_id'], '/outbox_id'),
        error,
        maxDelaySeconds: Math.min(
          DELAY_MAX_SECONDS,
          Math.max(1, Number(request['max_delay_seconds'] ?? DELAY_DEFAULT_SECONDS)),
        ),
        leaseToken: token === undefined || token === null ? undefined : parseInt64(token, '/lease_token'),
        shard: shardOf(request),
      })
      return { body: { marked, available_at_in: availableInSeconds } }
    },
  }
}

function pendingRoute(outbox: OutboxClaimDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/internal/outbox/pending-count',
    summary: 'Rows that could be published now, abandoned claims included; counted up to a million per database',
    access: 'internal',
    effect: 'read',
    responses: { 200: { type: 'object', properties: { pending: { type: 'integer' } } }, 503: 'no database answers' },
    handler: async () => {
      const { pending, failedShards } = await pendingOutbox(outbox)
      return { headers: missingShards(failedShards), body: { pending } }
    },
  }
}

function payloadRoute(outbox: OutboxClaimDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/outbox/payload/:execution_id/:event_id',
    summary: 'The whole envelope of an event whose message was too large for the stream; "none" for no execution',
    access: 'public',
    effect: 'read',
    responses: {
      200: answerOf(
        { execution_id: ID_OR_NULL, event_id: ID, event_type: TEXT, node_name: TEXT, status: TEXT, timestamp: TEXT },
        'the envelope, with everything that the event has besides',
      ),
      400: 'malformed id',
      404: 'unknown event',
    },
    handler: async ({ params }) => {
      const execution = params['execution_id']
      const text = await outboxPayload(
        outbox,
        execution === 'none' ? undefined : parseExecutionId(execution, 'execution_id'),
        parseEventId(params['event_id'], 'event_id'),
      )
      return { text }
    },
  }
}

function rowJson(row: ClaimedRow): JsonObject {
  const json: JsonObject = { outbox_id: id(row.outbox_id), event_id: id(row.event_id) }
  if (row.execution_id !== null) json['execution_id'] = id(row.execution_id)
  if (row.subject !== null) json['subject'] = row.subject
  return {
    ...json,
    payload: row.payload,
    payload_codec: row.payload_codec,
    attempts: row.attempts,
    lease_token: id(row.lease_token),
  }
}

function id(text: string): JsonValue {
  return integerValue(BigInt(text))
}

function shardOf(request: JsonObject): number | undefined {
  return typeof request['shard'] === 'number' ? request['shard'] : undefined
}

function idList(request: JsonObject, name: string): string[] | undefined {
  const list = request[name]
  return Array.isArray(list) ? list.map((value, index) => parseInt64(value, `/${name}/${index}`)) : undefined
}
