// Commands for workers behind HTTP, in the words and with the integers of the workers that exist.
import { parseEventId, parseExecutionId } from '../../../domain/ids/ids.js'
import { integerValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  type Commands,
  type HeldCommand,
  type IssuedCommand,
  isRefusal,
  type ShownCommand,
} from '../../../services/commands/commands.js'
import { foreignContext, type ReadResult } from '../../../services/commands/foreignContext.js'
import type { Unclaimable } from '../../../services/events/appendInTx.js'
import { unclaimable } from '../../../services/events/ingest.js'
import type { ApiReply, RouteSpec } from '../../route.js'
import { answerOf, COUNT, ID, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface CommandRouteDeps {
  commands: Commands
  readResult: ReadResult
}

const id = { format: 'int64', description: 'number or decimal text' } as const
const worker: Schema = { type: 'string', maxLength: 255, nullable: true }
const lease: Schema = { type: 'integer', minimum: 1, maximum: 86_400, nullable: true }
const token: Schema = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  nullable: true,
  description: 'meta.lease_token of the claim: a sign of life for that claim alone',
}
const names: Schema = { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 255 } }
const command: Schema = {
  type: 'object',
  properties: {
    status: { type: 'string' },
    event_id: { type: 'integer', format: 'int64' },
    execution_id: { type: 'integer', format: 'int64' },
    node_id: { type: 'string' },
    node_name: { type: 'string' },
    action: { type: 'string', description: 'kind of the tool' },
    context: { type: 'object', description: 'tool_config, args and render_context' },
    meta: { type: 'object', description: 'command_id, attempt, lease_token, lease_until and more' },
  },
}
const STATUSES = ['PENDING', 'CLAIMED', 'RUNNING', 'PARKED', 'COMPLETED', 'FAILED', 'CANCELLED']
const CLAIMS_MAX = 1_000
const WAIT_SECONDS_MAX = 30
const PAGE_MAX = 1_000

const ROW = answerOf({
  event_id: ID,
  execution_id: ID,
  command_id: TEXT_OR_NULL,
  step: TEXT_OR_NULL,
  action: TEXT_OR_NULL,
  pool: TEXT_OR_NULL,
  status: TEXT,
  priority: COUNT,
  attempt: COUNT,
  max_attempts: COUNT,
  worker_id: TEXT_OR_NULL,
  lease_until: TEXT_OR_NULL,
  deadline: TEXT_OR_NULL,
  created_at: TEXT_OR_NULL,
  claimed_at: TEXT_OR_NULL,
  started_at: TEXT_OR_NULL,
  completed_at: TEXT_OR_NULL,
  error: TEXT_OR_NULL,
})

export function commandRoutes({ commands, readResult }: CommandRouteDeps): RouteSpec[] {
  const withValues = async <C extends HeldCommand | IssuedCommand>(one: C): Promise<C> => ({
    ...one,
    context: await foreignContext(one, readResult),
  })
  return [
    {
      method: 'POST',
      path: '/api/commands/:event_id/claim',
      summary: 'Take a command; the same worker again gets the same answer while its lease runs',
      access: 'public',
      effect: 'write',
      showsAll: true,
      body: { type: 'object', properties: { worker_id: worker, lease_seconds: lease } },
      responses: {
        200: command,
        404: 'unknown command',
        409: 'not to be had; detail.code says why: active_claim, already_terminal, cancelled, execution_ended',
        422: 'worker_id is missing',
        429: 'its pool or playbook is paused or has as many commands as it may; try again',
      },
      handler: async ({ params, body }) => {
        const { lease_seconds: leaseSeconds } = body as JsonObject
        const workerId = workerOf(body)
        const outcome = await commands.claimOne(
          idOf(params),
          workerId,
          (leaseSeconds ?? undefined) as number | undefined,
        )
        if (isRefusal(outcome)) return refusal(outcome)
        return { body: { status: 'ok', event_id: number(outcome.eventId), ...toBody(await withValues(outcome)) } }
      },
    },
    {
      method: 'POST',
      path: '/api/commands/claim',
      summary: 'Take the commands that come first, and wait for one if there is none',
      access: 'public',
      effect: 'write',
      showsAll: true,
      body: {
        type: 'object',
        required: ['pools'],
        properties: {
          worker_id: worker,
          pools: { ...names, minItems: 1 },
          kinds: { ...names, nullable: true },
          max: { type: 'integer', minimum: 1, maximum: CLAIMS_MAX, nullable: true },
          wait_seconds: { type: 'number', minimum: 0, maximum: WAIT_SECONDS_MAX, nullable: true },
          lease_seconds: lease,
        },
      },
      responses: {
        200: { type: 'object', properties: { commands: { type: 'array', items: command } } },
        400: 'malformed',
        422: 'worker_id is missing',
      },
      handler: async ({ body, signal }) => {
        const input = body as JsonObject
        const held = await commands.claim({
          workerId: workerOf(body),
          pools: input['pools'] as string[],
          kinds: (input['kinds'] ?? undefined) as string[] | undefined,
          max: (input['max'] ?? 1) as number,
          waitMs: ((input['wait_seconds'] ?? 0) as number) * 1_000,
          leaseSeconds: (input['lease_seconds'] ?? undefined) as number | undefined,
          signal,
        })
        // Its worker may give signs of life for all that it holds, and not know of these.
        commands.giveBackOnAbort(held, signal)
        const whole = await Promise.all(held.map(withValues))
        return { body: { commands: whole.map((one) => ({ event_id: number(one.eventId), ...toBody(one) })) } }
      },
    },
    {
      method: 'GET',
      path: '/api/commands/:event_id',
      summary: 'A command as it was issued; secrets only with the internal token',
      access: 'public',
      effect: 'read',
      showsAll: true,
      responses: { 200: command, 404: 'unknown command' },
      handler: async ({ params, isInternal }) => {
        const issued = await commands.get(idOf(params), isInternal ? 'open' : 'sealed')
        return { body: toBody(isInternal ? await withValues(issued) : issued) }
      },
    },
    {
      method: 'POST',
      path: '/api/commands/:event_id/heartbeat',
      summary: 'A sign of life: extends the lease, and says whether the work is still wanted',
      access: 'public',
      effect: 'write',
      body: {
        type: 'object',
        properties: { worker_id: worker, lease_token: token },
      },
      responses: {
        200: {
          type: 'object',
          properties: { lease_until: { type: 'string', nullable: true }, cancelled: { type: 'boolean' } },
        },
        404: 'unknown command',
        409: 'the worker does not hold it any more',
        422: 'worker_id is missing',
      },
      handler: async ({ params, body }) => {
        const eventId = idOf(params)
        const { lease_token: token } = body as JsonObject
        const outcome = await commands.beatOne(eventId, workerOf(body), (token ?? undefined) as number | undefined)
        if (outcome.kind === 'lost') {
          throw new CpError('conflict', `command ${eventId} is not held by this worker any more; stop working on it`)
        }
        if (outcome.kind === 'cancelled') return { body: { lease_until: null, cancelled: true } }
        return { body: { lease_until: outcome.leaseUntil, cancelled: false } }
      },
    },
    {
      method: 'GET',
      path: '/api/commands',
      summary: 'Commands in the order they were issued',
      access: 'public',
      effect: 'read',
      query: {
        execution_id: id,
        status: { type: 'string', enum: STATUSES },
        pool: { type: 'string', maxLength: 255 },
        after: { ...id, description: 'event_id of the last command of the page before' },
        limit: { type: 'integer', minimum: 1, maximum: PAGE_MAX },
      },
      responses: { 200: { type: 'object', properties: { items: { type: 'array' }, count: { type: 'integer' } } } },
      handler: async ({ query }) => {
        const { execution_id: executionId, status, pool, after, limit } = query
        const items = await commands.list({
          executionId: executionId === undefined ? undefined : parseExecutionId(executionId, 'execution_id'),
          status,
          pool,
          after: after === undefined ? '0' : parseEventId(after, 'after'),
          limit: limit === undefined ? 100 : Number(limit),
        })
        return { body: { items: items.map(toRow), count: items.length } }
      },
    },
    {
      method: 'POST',
      path: '/api/commands/:event_id/requeue',
      summary: 'Take a command away from its worker and give it to the next',
      access: 'operator',
      effect: 'write',
      body: {
        type: 'object',
        properties: { note: { type: 'string', nullable: true, maxLength: 2_000, description: 'why, for the record' } },
      },
      bodyOptional: true,
      responses: { 200: ROW, 404: 'unknown command', 409: 'nobody holds it' },
      handler: async ({ params }) => ({ body: toRow(await commands.requeue(idOf(params))) }),
    },
  ]
}

function idOf(params: Readonly<Record<string, string>>): string {
  return parseEventId(params['event_id'], 'event_id')
}

function workerOf(body: JsonValue | undefined): string {
  const workerId = (body as JsonObject)['worker_id']
  if (typeof workerId === 'string' && workerId !== '') return workerId
  throw new CpError('refused', '/worker_id is missing; say who you are, with the same text in every answer')
}

function refusal(outcome: Unclaimable): ApiReply {
  const { message } = unclaimable(outcome)
  const { code, retryAfterSeconds } = outcome
  const status = code === 'pool_saturated' ? 429 : 409
  return {
    status,
    body: { error: message, status, detail: { code, message } },
    ...(retryAfterSeconds > 0 ? { headers: { 'retry-after': String(retryAfterSeconds) } } : {}),
  }
}

function toBody(one: HeldCommand | IssuedCommand): JsonObject {
  const { executionId, step, kind, context, meta } = one
  return { execution_id: number(executionId), node_id: step, node_name: step, action: kind, context, meta }
}

function toRow(row: ShownCommand): JsonObject {
  return {
    event_id: number(row.command_id),
    execution_id: number(row.execution_id),
    command_id: row.command_key,
    step: row.step_name,
    action: row.tool_kind,
    pool: row.pool,
    status: row.status,
    priority: row.priority,
    attempt: row.attempt,
    max_attempts: row.max_attempts,
    worker_id: row.worker_id,
    lease_until: row.lease_until,
    deadline: row.deadline,
    created_at: row.created_at,
    claimed_at: row.claimed_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    error: row.error,
  }
}

function number(text: string): JsonValue {
  return integerValue(BigInt(text))
}
