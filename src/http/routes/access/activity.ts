// What people did through console, API and command line, newest first.

import { parseWireTime } from '../../../domain/events/wireTime.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { type ActionRow, type ActivityDeps, activityOf } from '../../../services/access/activity.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface ActivityRouteDeps {
  activity: ActivityDeps
}

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000

const ACTION: Schema = answerOf({
  id: TEXT,
  at: TEXT,
  actor: TEXT,
  role: TEXT,
  via: { type: 'string', enum: ['console', 'api', 'cli'] },
  action: TEXT,
  target_kind: TEXT_OR_NULL,
  target_id: TEXT_OR_NULL,
  reason: TEXT_OR_NULL,
  request: ANY,
  outcome: {
    type: 'string',
    enum: ['intent', 'done', 'refused', 'failed'],
    description: 'intent: how it ended is unknown',
  },
  error: TEXT_OR_NULL,
  finished_at: TEXT_OR_NULL,
})

export function activityRoutes({ activity }: ActivityRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/activity',
      summary: 'What people did, newest first: who, what, why, and how it ended',
      access: 'public',
      effect: 'read',
      // Secrets were taken out before it was written; an actor named after its token only looks like one.
      showsAll: true,
      query: {
        actor: { type: 'string', description: 'the whole of it, or the name before its token' },
        action: { type: 'string', description: 'such as outbox.redrive, or its first words' },
        target: { type: 'string', description: 'the id of what was changed' },
        since: { type: 'string', format: 'date-time' },
        cursor: { format: 'int64', description: 'next_cursor of the page before' },
        limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
      },
      responses: { 200: answerOf({ activity: { type: 'array', items: ACTION }, next_cursor: TEXT_OR_NULL }) },
      handler: async ({ query }) => {
        const { actions, next } = await activityOf(activity, {
          actor: query['actor'] ?? null,
          action: query['action'] ?? null,
          target: query['target'] ?? null,
          since: parseWireTime(query['since'], 'since') ?? null,
          beforeId: query['cursor'] ?? null,
          limit: Number(query['limit'] ?? LIMIT_DEFAULT),
        })
        return { body: { activity: actions.map(shown), next_cursor: next ?? null } }
      },
    },
  ]
}

function shown({ request, ...row }: ActionRow): JsonObject {
  return { ...row, request: request === null ? null : parseJson(request) }
}
