// /api/subscriptions: register, list, show, move through the lifecycle. The status object is the NoETL server's;
// everything more is behind ?verbose=true and in the history.

import { isStorable } from '../../../domain/events/storableText.js'
import { parseWireTime } from '../../../domain/events/wireTime.js'
import { pathPattern } from '../../../domain/executions/executionPage.js'
import { parseSubscriptionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import {
  parseSubscriptionAction,
  SHOWN_STATES,
  SUBSCRIPTION_ACTIONS,
} from '../../../domain/subscriptions/subscription.js'
import { CpError } from '../../../errors.js'
import {
  changeSubscription,
  findSubscription,
  type LifecycleDeps,
  registerSubscription,
} from '../../../services/subscriptions/lifecycle.js'
import { type Obstacle, type ObstacleDeps, visibleObstacles } from '../../../services/subscriptions/obstacles.js'
import {
  type Backlog,
  backlogOf,
  backlogOrTrouble,
  historyOf,
  shownHistoryItem,
  statusOf,
  subscriptionsWithin,
  type ViewDeps,
  verboseStatusOf,
} from '../../../services/subscriptions/views.js'
import type { Caller } from '../../callers.js'
import { queryBoolean } from '../../query.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import { answerOf, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface SubscriptionRouteDeps {
  subscriptions: LifecycleDeps & ViewDeps & ObstacleDeps
}

const LIMIT_MAX = 1_000_000
const LIST_BYTES_MAX = 8 * 1_048_576
const HISTORY_MAX = 10_000

const STATUS: Schema = {
  type: 'object',
  properties: {
    subscription_id: { type: 'string' },
    path: { type: 'string' },
    catalog_id: { type: 'string' },
    state: { type: 'string', enum: SHOWN_STATES },
    last_event_type: { type: 'string' },
    updated_at: { type: 'string', format: 'date-time' },
  },
}
const note: Readonly<Record<string, Schema>> = {
  reason: { type: 'string', nullable: true, maxLength: 2_000 },
  actor: { type: 'string', nullable: true, maxLength: 200 },
}
const ORDER: Schema & { required?: never } = { type: 'string', enum: ['oldest', 'newest'], default: 'oldest' }
const verbose: Schema & { required?: never } = { type: 'boolean', description: 'reason, actor, runtime, spec and more' }

export function subscriptionRoutes({ subscriptions }: SubscriptionRouteDeps): RouteSpec[] {
  return [
    registerRoute(subscriptions, '/api/subscriptions'),
    registerRoute(subscriptions, '/api/subscriptions/register'),
    actionRoute(subscriptions),
    ...readRoutes(subscriptions),
  ]
}

function registerRoute(deps: LifecycleDeps, path: string): RouteSpec {
  return {
    method: 'POST',
    path,
    summary: 'Register a subscription of the catalog; a path has one live id, which picks up newer versions',
    access: 'public',
    effect: 'write',
    body: {
      type: 'object',
      required: ['path'],
      properties: { path: { type: 'string', minLength: 1, maxLength: 512 }, ...note },
    },
    responses: { 200: STATUS, 404: 'unknown path', 422: 'no subscription, or its listener is taken' },
    handler: async ({ body, caller }) => {
      const request = body as JsonObject
      const { row, changed } = await registerSubscription(deps, String(request['path']), noteOf(request, caller))
      return {
        body: statusOf(row),
        headers: { 'x-noetl-changed': String(changed) },
        about: { kind: 'subscription', id: row.subscription_id },
      }
    },
  }
}

function actionRoute(deps: LifecycleDeps & ObstacleDeps): RouteSpec {
  return {
    method: 'POST',
    path: '/api/subscriptions/:id/:action',
    summary: `One of ${SUBSCRIPTION_ACTIONS.join(', ')}; repeating it changes nothing. A pause has stopped deliveries when it answers`,
    access: 'public',
    effect: 'write',
    bodyOptional: true,
    body: {
      type: 'object',
      properties: {
        ...note,
        until: { type: 'string', nullable: true, format: 'date-time', description: 'end of a pause or drain' },
      },
    },
    responses: {
      200: STATUS,
      400: 'malformed id',
      404: 'never registered',
      422: 'unknown action, or not allowed in the current state',
      503: 'changed, but deliveries could not be stopped everywhere; repeat it',
    },
    handler: async ({ params, body, caller }) => {
      const id = parseSubscriptionId(params['id'], 'id')
      const action = parseSubscriptionAction(params['action'] ?? '')
      const request = isJsonObject(body) ? body : {}
      const until = parseWireTime(request['until'], '/until')
      const { row, changed } = await changeSubscription(deps, { id, action, until, ...noteOf(request, caller) })
      const obstacles = await visibleObstacles(deps, row)
      return {
        body: statusOf(row),
        headers: {
          'x-noetl-changed': String(changed),
          ...(obstacles.length === 0 ? {} : { 'x-noetl-trouble': headerText(obstacles) }),
        },
      }
    },
  }
}

function readRoutes(deps: LifecycleDeps & ViewDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/subscriptions',
      summary:
        'Every subscription, oldest first unless order says otherwise, deactivated ones included, up to 8 MB; then x-noetl-next-cursor',
      access: 'public',
      effect: 'read',
      query: {
        state: { type: 'string', description: SHOWN_STATES.join(', ') },
        path: { type: 'string', description: 'a star at the end stands for any rest' },
        kind: { type: 'string', description: 'pull or push' },
        order: ORDER,
        limit: { type: 'integer', description: `clamped into 1..${LIMIT_MAX}; default all that fit` },
        cursor: { format: 'int64', description: 'x-noetl-next-cursor of the page before' },
        verbose,
      },
      responses: { 200: { type: 'object', properties: { subscriptions: { type: 'array', items: STATUS } } } },
      handler: async ({ query }) => {
        const isVerbose = queryBoolean(query['verbose'], false)
        const filter = {
          state: query['state']?.toUpperCase() ?? null,
          pathPattern: pathPattern(query['path']),
          mode: query['kind']?.toLowerCase() ?? null,
          order: query['order'] === 'newest' ? ('newest' as const) : ('oldest' as const),
          cursor: query['cursor'] === undefined ? null : parseSubscriptionId(query['cursor'], 'cursor'),
          limit: Math.min(LIMIT_MAX, Math.max(1, Number(query['limit'] ?? LIMIT_MAX))),
        }
        const status = isVerbose ? verboseStatusOf : statusOf
        const { subscriptions, next } = await subscriptionsWithin(deps, filter, status, LIST_BYTES_MAX)
        return {
          headers: {
            'x-noetl-has-more': String(next !== undefined),
            ...(next === undefined ? {} : { 'x-noetl-next-cursor': next }),
          },
          body: { subscriptions },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/subscriptions/:id',
      summary: 'One subscription',
      access: 'public',
      effect: 'read',
      query: { verbose },
      responses: { 200: STATUS, 400: 'malformed id', 404: 'never registered' },
      handler: async (request) => {
        const row = await findSubscription(deps, idOf(request))
        if (!queryBoolean(request.query['verbose'], false)) return { body: statusOf(row) }
        const backlog = await backlogOrTrouble(deps, row)
        return {
          body: {
            ...verboseStatusOf(row),
            backlog: 'trouble' in backlog ? { error: backlog.trouble, is_missing: backlog.isMissing } : counts(backlog),
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/subscriptions/:id/history',
      summary: 'What happened to a subscription, from the log, oldest first unless order says otherwise',
      access: 'public',
      effect: 'read',
      query: {
        order: ORDER,
        after: { format: 'int64', description: 'only events after this id' },
        before: { format: 'int64', description: 'only events before this id' },
        limit: { type: 'integer', minimum: 1, maximum: HISTORY_MAX, default: 1_000 },
      },
      responses: {
        200: answerOf({
          subscription_id: TEXT,
          events: {
            type: 'array',
            items: answerOf({
              event_id: TEXT,
              event_type: TEXT,
              state: TEXT_OR_NULL,
              catalog_id: TEXT_OR_NULL,
              at: TEXT,
              reason: TEXT_OR_NULL,
              actor: TEXT_OR_NULL,
              until: TEXT_OR_NULL,
            }),
          },
        }),
        404: 'never registered',
      },
      handler: async (request) => {
        const id = idOf(request)
        const { order, after, before, limit } = request.query
        const items = await historyOf(deps, id, {
          after: after === undefined ? undefined : parseSubscriptionId(after, 'after'),
          before: before === undefined ? undefined : parseSubscriptionId(before, 'before'),
          isNewestFirst: order === 'newest',
          limit: limit === undefined ? undefined : Number(limit),
        })
        return {
          body: {
            subscription_id: id,
            events: items.map(shownHistoryItem),
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/internal/subscriptions/:id/backlog',
      summary: 'Messages that wait for a subscription; a number for autoscalers',
      access: 'internal',
      effect: 'read',
      responses: {
        200: {
          type: 'object',
          properties: {
            backlog: { type: 'integer' },
            pending: { type: 'integer' },
            oldest_age_seconds: { type: 'number' },
          },
        },
        404: 'never registered',
        422: 'a source whose backlog is not known',
        503: 'NATS does not answer',
      },
      handler: async (request) => {
        const backlog = await backlogOf(deps, idOf(request))
        return { body: { subscription_id: backlog.subscriptionId, state: backlog.state, ...counts(backlog) } }
      },
    },
  ]
}

function counts({ pending, ackPending, redelivered, oldestSeconds }: Backlog): JsonObject {
  const backlog = pending + ackPending
  // 0 and not null where nothing waits: an autoscaler wants a number.
  return { backlog, pending, ack_pending: ackPending, redelivered, oldest_age_seconds: oldestSeconds ?? 0 }
}

/** What a header may hold. */
function headerText(obstacles: readonly Obstacle[]): string {
  return obstacles
    .map(({ text }) => text)
    .join('; ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 1_000)
}

function idOf({ params }: ApiRequest): string {
  return parseSubscriptionId(params['id'], 'id')
}

/** A program may say for whom it acts; a session acts as itself. */
function noteOf(request: JsonObject, { by, actor }: Caller): { reason?: string; actor?: string } {
  const text = (key: string): Record<string, string> => {
    const value = request[key]
    if (typeof value !== 'string' || value === '') return {}
    if (!isStorable(value)) throw new CpError('invalid_input', `/${key} holds characters that cannot be stored`)
    return { [key]: value }
  }
  const named = by === 'nothing' ? {} : { actor }
  return { ...text('reason'), ...named, ...(by === 'session' ? {} : text('actor')) }
}
