// POST /api/events and /api/events/batch: the NoETL server's fields and answers.
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { integerValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { AppendOutcome } from '../../../services/events/appendInTx.js'
import {
  clashMessage,
  type IngestDeps,
  ingestBatch,
  ingestEvent,
  ingestLargeBatch,
  ingestLargeEvent,
} from '../../../services/events/ingest.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import type { Schema } from '../../schema.js'
import { traceContextOf } from '../../traceContext.js'

export interface EventRouteDeps {
  ingest: IngestDeps
  onAppended?: (outcome: AppendOutcome) => void
}

const id: Schema = { format: 'int64', description: 'number or decimal text' }

const EVENT_PROPERTIES: Record<string, Schema> = {
  step: { type: 'string', nullable: true },
  event_type: { type: 'string', description: 'alias: name' },
  name: { type: 'string', description: 'alias of event_type' },
  payload: { description: 'alias: context' },
  meta: { type: 'object', nullable: true },
  worker_id: { type: 'string', nullable: true },
  result_kind: { type: 'string', enum: ['data', 'ref', 'refs'] },
  result_uri: { type: 'string', nullable: true },
  event_ids: { type: 'array', nullable: true },
  actionable: { type: 'boolean' },
  informative: { type: 'boolean' },
  event_id: { ...id, nullable: true },
  status: { type: 'string', nullable: true },
  created_at: { type: 'string', nullable: true, description: 'RFC 3339' },
  catalog_id: { ...id, nullable: true },
  path: { type: 'string', nullable: true },
}

const EVENT: Schema = {
  type: 'object',
  required: ['execution_id'],
  properties: { execution_id: id, ...EVENT_PROPERTIES },
}

/** Of a request with an Idempotency-Key. */
const ONCE: Record<string, Schema> = {
  event_ids: { type: 'array', items: id },
  duplicate: { type: 'boolean' },
  idempotency_key: { type: 'string' },
}

const BATCH_MAX = 10_000

const BATCH: Schema = {
  type: 'object',
  required: ['execution_id', 'events'],
  properties: {
    execution_id: id,
    worker_id: { type: 'string', nullable: true },
    events: { type: 'array', maxItems: BATCH_MAX, items: { type: 'object', properties: EVENT_PROPERTIES } },
  },
}

export function eventRoutes({ ingest, onAppended }: EventRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/events',
      summary:
        'Append one event; the same event_id and content, or the same Idempotency-Key, again gives the same answer',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      readsLarge: true,
      body: EVENT,
      responses: {
        200: {
          type: 'object',
          properties: {
            status: { type: 'string' },
            event_id: id,
            commands_generated: { type: 'integer' },
            stream_version: id,
            reason: { type: 'string', description: 'why an answer to a command was ignored' },
            ...ONCE,
          },
        },
        400: 'malformed',
        404: 'unknown execution or catalog entry',
        409: 'the id is taken by other content, or the command by another worker',
        422: 'refused',
        429: 'a claim of a command whose pool or playbook is paused or full; try again',
      },
      handler: async (request) => {
        const outcome =
          request.large === undefined
            ? await ingestEvent(ingest, request.body as JsonObject, optionsOf(request))
            : await ingestLargeEvent(ingest, { bytes: request.large, schema: EVENT }, optionsOf(request))
        onAppended?.(outcome)
        return {
          body: { ...answerTo(outcome), ...repetition(request, [outcome]) },
          // Not in the body: the same event again gives the same answer.
          headers: { 'x-noetl-changed': String(outcome.kind === 'stored') },
        }
      },
    },
    {
      method: 'POST',
      path: '/api/events/batch',
      summary: 'Append events of one execution in one transaction, with a result per item',
      access: 'public',
      effect: 'write',
      bodySize: 'batch',
      readsLarge: true,
      body: BATCH,
      responses: {
        200: {
          type: 'object',
          properties: {
            status: { type: 'string', enum: ['ok', 'partial'] },
            commands_generated: { type: 'integer' },
            results: { type: 'array', items: { type: 'object', properties: { event_id: id } } },
            ...ONCE,
          },
        },
        400: 'malformed; nothing was written',
        404: 'unknown execution',
        422: 'refused; nothing was written',
      },
      handler: async (request) => {
        const outcomes =
          request.large === undefined
            ? await ingestBatch(ingest, request.body as JsonObject, optionsOf(request))
            : await ingestLargeBatch(ingest, { bytes: request.large, schema: BATCH }, optionsOf(request))
        for (const outcome of outcomes) onAppended?.(outcome)
        const failed = outcomes.some(
          (outcome) =>
            ['conflict', 'refused', 'unclaimable'].includes(outcome.kind) ||
            (outcome.kind === 'claimed' && !outcome.own),
        )
        return {
          body: {
            status: failed ? 'partial' : 'ok',
            event_ids: outcomes.map(eventIdOf),
            commands_generated: 0,
            results: outcomes.map((outcome, index) => itemResult(outcome, index)),
            ...repetition(request, outcomes),
          },
        }
      },
    },
  ]
}

function optionsOf(request: ApiRequest) {
  return {
    traceContext: traceContextOf(request.headers),
    isInternal: request.isInternal,
    idempotencyKey: idempotencyKeyOf(request.headers),
  }
}

const KEY_LENGTH_MAX = 255

function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['idempotency-key'] ?? headers['x-idempotency-key']
  if (given === undefined || given === '') return undefined
  if (typeof given !== 'string' || given.length > KEY_LENGTH_MAX) {
    throw new CpError(
      'invalid_input',
      `the header Idempotency-Key must be one text of up to ${KEY_LENGTH_MAX} characters`,
    )
  }
  return given
}

/** What a request with a key is told besides: which events are its own, and whether an earlier one stored them. */
function repetition({ headers }: ApiRequest, outcomes: readonly AppendOutcome[]): JsonObject {
  const key = idempotencyKeyOf(headers)
  if (key === undefined) return {}
  return {
    event_ids: outcomes.map(eventIdOf),
    duplicate: outcomes.length > 0 && outcomes.every(({ kind }) => kind === 'duplicate'),
    idempotency_key: key,
  }
}

function eventIdOf(outcome: AppendOutcome): JsonValue {
  return 'eventId' in outcome ? number(outcome.eventId) : 0
}

function answerTo(outcome: AppendOutcome): JsonObject {
  // A worker that claims what it already holds is told so by event id 0, as in the NoETL server.
  if (outcome.kind === 'claimed') return { status: 'ok', event_id: 0, commands_generated: 0 }
  if (outcome.kind === 'ignored') {
    return { status: 'ignored', reason: outcome.reason, event_id: 0, commands_generated: 0 }
  }
  const body: JsonObject = {
    status: 'ok',
    event_id: 'eventId' in outcome ? number(outcome.eventId) : 0,
    commands_generated: 0,
  }
  if ((outcome.kind === 'stored' || outcome.kind === 'duplicate') && outcome.streamVersion !== undefined) {
    body['stream_version'] = number(outcome.streamVersion)
  }
  return body
}

function itemResult(outcome: AppendOutcome, index: number): JsonObject {
  const result: JsonObject = { index, status: outcome.kind }
  if ('eventId' in outcome) result['event_id'] = number(outcome.eventId)
  if ('streamVersion' in outcome && outcome.streamVersion !== undefined)
    result['stream_version'] = number(outcome.streamVersion)
  if (outcome.kind === 'conflict') result['error'] = clashMessage(outcome.eventId)
  if (outcome.kind === 'refused') result['error'] = outcome.reason
  if (outcome.kind === 'ignored') result['reason'] = outcome.reason
  if (outcome.kind === 'unclaimable') result['error'] = outcome.code
  if (outcome.kind === 'claimed') result['error'] = `claimed by ${outcome.workerId ?? 'another worker'}`
  return result
}

function number(text: string): JsonValue {
  return integerValue(BigInt(text))
}
