// What would start an entry of the catalog.
import type { JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import { USERS_MAX, type UsedByDeps, usedBy } from '../../../services/catalog/usedBy.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, ID_OR_NULL, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface UsedByRouteDeps {
  usedBy: UsedByDeps
}

const ANSWER: Schema = answerOf({
  path: TEXT,
  users: {
    type: 'array',
    description: 'by path: playbooks in their newest version, subscriptions in the one they run',
    items: answerOf({
      kind: { type: 'string', enum: ['playbook', 'subscription'] },
      path: TEXT,
      version: COUNT,
      catalog_id: TEXT,
      subscription_id: ID_OR_NULL,
      state: { ...TEXT_OR_NULL, description: 'of the subscription; null before it is registered' },
      places: {
        type: 'array',
        description: 'where its document names the entry',
        items: answerOf({ pointer: TEXT, step: TEXT_OR_NULL }),
      },
    }),
  },
  schedule: {
    ...answerOf({ cron: TEXT, timezone: TEXT, next_at: TEXT_OR_NULL, paused: FLAG }, 'of the entry itself'),
    nullable: true,
  },
  on_failure_of_all: {
    type: 'boolean',
    description: 'NOETL_CP_ON_FAILURE names it: it starts for failed executions whose playbook says nothing else',
  },
  is_complete: {
    type: 'boolean',
    description: `false: more than ${USERS_MAX} documents mention it, or reading them took too long; the rest was not looked at`,
  },
})

export function usedByRoutes({ usedBy: deps }: UsedByRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/catalog/used_by',
      summary: 'What would start this entry, as far as documents name it plainly and not by a template',
      access: 'public',
      effect: 'read',
      query: { path: { type: 'string', description: 'catalog path; needed' } },
      responses: { 200: ANSWER, 400: 'no path', 404: 'no such entry, and nothing names it' },
      handler: async ({ query: { path } }) => {
        if (path === undefined) throw new CpError('invalid_input', 'path is missing', { details: { field: 'path' } })
        return { body: (await usedBy(deps, path)) as unknown as JsonValue }
      },
    },
  ]
}
