// GET /api/executions/{id}/events/stream: what happens in an execution, as it happens.
import { type ExecutionId, parseExecutionId, parseInt64 } from '../../../domain/ids/ids.js'
import type { EventFollowing, Followed } from '../../../services/events/eventFollowing.js'
import type { ApiRequest, RouteSpec, ServerSentEvent } from '../../route.js'

export interface EventStreamRouteDeps {
  following: Pick<EventFollowing, 'follow'>
}

export function eventStreamRoutes({ following }: EventStreamRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/events/stream',
      summary: 'Events of an execution as server-sent events, from the first to its end',
      access: 'public',
      effect: 'read',
      query: {
        after_version: {
          format: 'int64',
          description: 'begin after this stream_version; Last-Event-ID says the same and is stronger',
        },
        follow: { type: 'boolean', default: true, description: 'false: end when what is there was sent' },
      },
      responses: {
        200: 'text/event-stream: data is an event, id its stream_version; the last is named end, with {status}',
        404: 'unknown execution',
        503: 'too many follow',
      },
      handler: async (request) => {
        const id: ExecutionId = parseExecutionId(request.params['execution_id'], 'execution_id')
        return {
          events: sent(
            await following.follow(id, {
              afterVersion: positionOf(request),
              waits: request.query['follow'] !== 'false',
              signal: request.signal,
            }),
            request.isStillAllowed,
          ),
        }
      },
    },
  ]
}

function positionOf({ headers, query }: ApiRequest): string {
  const last = headers['last-event-id']
  const given = typeof last === 'string' && last !== '' ? last : (query['after_version'] ?? '0')
  return parseInt64(given, 'after_version')
}

/** Rights end while somebody reads: they are looked at again in every pause and after so many events. */
const EVENTS_BETWEEN_LOOKS = 100

async function* sent(followed: AsyncIterable<Followed>, isStillAllowed: () => boolean): AsyncIterable<ServerSentEvent> {
  let count = 0
  for await (const one of followed) {
    const isLook = one.kind !== 'event' || ++count % EVENTS_BETWEEN_LOOKS === 0
    if (isLook && !isStillAllowed()) return
    if (one.kind === 'event') yield { id: one.version, data: one.event }
    else if (one.kind === 'end') yield { name: 'end', data: { status: one.status } }
    else yield {}
  }
}
