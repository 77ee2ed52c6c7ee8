// GET /api/stream: one stream for all that a browser shows.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { EXECUTION_TOPIC } from '../../../services/console/executionNews.js'
import type { Heard, NewsBoard } from '../../../services/console/newsBoard.js'
import type { RouteSpec, ServerSentEvent } from '../../route.js'

export interface StreamRouteDeps {
  news: Pick<NewsBoard, 'listen'>
  console: { version: string; isReadOnly: boolean }
}

const TOPICS = ['overview', 'executions', 'outbox', 'subscriptions', 'jobs', 'activity'] as const
const TOPICS_MAX = 20

export function streamRoutes({ news, console: about }: StreamRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/stream',
      summary: 'What has changed, by topic, as server-sent events; ask for it where it must be exact',
      access: 'public',
      effect: 'read',
      query: {
        topics: {
          type: 'string',
          maxLength: 1_000,
          description: `with commas, at most ${TOPICS_MAX}: ${TOPICS.join(', ')}, ${EXECUTION_TOPIC}<id>`,
        },
        last_event_id: { type: 'string', maxLength: 64, description: 'as the header Last-Event-ID, which is stronger' },
      },
      responses: {
        200: 'text/event-stream: hello {epoch, reset, version, role, read_only}, then messages named after their topics; lag {dropped} and bye {retry_ms, reason} end it',
        400: 'a topic that is unknown',
        503: 'too many streams',
      },
      handler: async ({ query, headers, caller, signal, isStillAllowed }) => {
        const last = headers['last-event-id']
        return {
          headers: { 'x-accel-buffering': 'no' },
          events: sent(
            news.listen({
              topics: topicsOf(query['topics']),
              lastId: typeof last === 'string' && last !== '' ? last : query['last_event_id'],
              greeting: { version: about.version, role: caller.role, read_only: about.isReadOnly },
              isAllowed: isStillAllowed,
              signal,
            }),
          ),
        }
      },
    },
  ]
}

function topicsOf(text: string | undefined): ReadonlySet<string> {
  const topics = new Set((text ?? 'overview').split(',').map((topic) => topic.trim()))
  if (topics.size > TOPICS_MAX) throw wrong(`at most ${TOPICS_MAX} topics, not ${topics.size}`)
  for (const topic of topics) {
    if (topic.startsWith(EXECUTION_TOPIC)) parseExecutionId(topic.slice(EXECUTION_TOPIC.length), 'topics')
    else if (!(TOPICS as readonly string[]).includes(topic)) {
      throw wrong(
        `there is no topic ${JSON.stringify(topic)}; there are ${TOPICS.join(', ')} and ${EXECUTION_TOPIC}<id>`,
      )
    }
  }
  return topics
}

function wrong(message: string): CpError {
  return new CpError('invalid_input', message, { details: { field: 'topics' } })
}

async function* sent(heard: AsyncIterable<Heard>): AsyncIterable<ServerSentEvent> {
  for await (const one of heard) yield one === 'quiet' ? {} : one
}
