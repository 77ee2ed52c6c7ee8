// Messages of subscriptions that were given up, over HTTP: listed, and started again.
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseInt64, parseSubscriptionId } from '../../../domain/ids/ids.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { CpError, toCpError } from '../../../errors.js'
import { pageOfDead, type RedriveDeps, redriveDead, shownBodies } from '../../../services/subscriptions/deadLetters.js'
import { queryBoolean } from '../../query.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, FLAG, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface DeadLetterRouteDeps {
  deadLetters: RedriveDeps
}

const LIMIT_MAX = 1_000
const IDS_MAX = 100
/** Each may bring some kilobytes. */
const SHOWN_MAX = 200

export function deadLetterRoutes({ deadLetters }: DeadLetterRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/subscriptions/dead',
      summary: 'Messages that were given up, oldest first, with their reasons',
      access: 'public',
      effect: 'read',
      query: {
        subscription_id: { format: 'int64' },
        after: { format: 'int64', description: 'only those after this id' },
        limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: 50 },
        body: { type: 'boolean', description: `with what the messages hold; then at most ${SHOWN_MAX} of them` },
      },
      responses: {
        200: answerOf({
          dead_letters: {
            type: 'array',
            items: answerOf({
              dead_letter_id: TEXT,
              subscription_id: TEXT,
              identity: TEXT,
              subject: TEXT_OR_NULL,
              bytes: COUNT,
              attempts: COUNT,
              reason: TEXT,
              headers: ANY,
              body: {
                ...ANY,
                description:
                  'where asked for: its JSON or text up to 16 KB, the beginning of longer text, null for longer JSON',
              },
              created_at: { type: 'string', format: 'date-time' },
            }),
          },
          has_more: FLAG,
        }),
        400: 'malformed',
      },
      handler: async ({ query }) => {
        const hasBody = queryBoolean(query['body'], false)
        const limit = Math.min(Number(query['limit'] ?? 50), hasBody ? SHOWN_MAX : LIMIT_MAX)
        const of = query['subscription_id']
        const found = await pageOfDead(
          deadLetters,
          of === undefined ? undefined : parseSubscriptionId(of, 'subscription_id'),
          parseInt64(query['after'] ?? '0', 'after'),
          limit + 1,
        )
        const page = found.slice(0, limit)
        const bodies = hasBody
          ? await shownBodies(
              deadLetters,
              page.map((row) => row.dead_letter_id),
            )
          : undefined
        const shown = page.map(
          (row): JsonObject => ({
            ...row,
            ...(bodies === undefined ? {} : { body: bodies.get(row.dead_letter_id) ?? null }),
            created_at: wireTimeFromPostgres(row.created_at, 'created_at'),
          }),
        )
        return { body: { dead_letters: shown, has_more: found.length > limit } }
      },
    },
    {
      method: 'POST',
      path: '/api/subscriptions/dead/redrive',
      summary: 'Start executions from messages that were given up; what fails again stays',
      access: 'operator',
      effect: 'write',
      body: {
        type: 'object',
        required: ['ids'],
        properties: {
          ids: { type: 'array', minItems: 1, maxItems: IDS_MAX, items: { format: 'int64' } },
          reason: { type: 'string', nullable: true, maxLength: 2_000, description: 'why, for the record of acts' },
        },
      },
      responses: {
        200: answerOf({
          results: {
            type: 'array',
            items: answerOf({ id: TEXT, outcome: TEXT, execution_id: TEXT_OR_NULL, reason: TEXT_OR_NULL }),
          },
        }),
        400: 'malformed',
      },
      handler: async ({ body }) => {
        const given = isJsonObject(body) && Array.isArray(body['ids']) ? body['ids'] : []
        // All of them before the first is started.
        const ids = given.map((id, index) => parseInt64(id, `/ids/${index}`))
        const results: JsonObject[] = []
        for (const id of ids) results.push(await outcomeOf(deadLetters, id))
        return { body: { results } }
      },
    },
  ]
}

/** One that is refused is told beside the others: each stands for itself. */
async function outcomeOf(deps: RedriveDeps, id: string): Promise<JsonObject> {
  try {
    const { outcome, executionId, reason } = await redriveDead(deps, id)
    return { id, outcome, execution_id: executionId ?? null, reason: reason ?? null }
  } catch (error) {
    const { code, message } = toCpError(error)
    if (code !== 'not_found' && code !== 'illegal_transition') throw new CpError(code, message, { cause: error })
    return { id, outcome: 'refused', execution_id: null, reason: message }
  }
}
