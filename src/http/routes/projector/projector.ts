// POST /api/internal/events/project: store events that come from elsewhere.
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { type ProjectorDeps, projectEnvelopes } from '../../../services/projector/projector.js'
import type { RouteSpec } from '../../route.js'

export interface ProjectorRouteDeps {
  projector: ProjectorDeps
}

const BATCH_MAX = 10_000

export function projectorRoutes({ projector }: ProjectorRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/internal/events/project',
      summary: 'Store event envelopes; known ones are counted, unusable ones set aside with their reason',
      access: 'internal',
      effect: 'write',
      bodySize: 'batch',
      body: {
        type: 'object',
        required: ['events'],
        properties: { events: { type: 'array', minItems: 1, maxItems: BATCH_MAX } },
      },
      responses: {
        200: {
          type: 'object',
          properties: {
            projected: { type: 'integer' },
            duplicates: { type: 'integer' },
            quarantined: { type: 'integer' },
          },
        },
        400: 'no events',
        503: 'a database is away; send again',
      },
      handler: async ({ body }) => {
        const events = (body as JsonObject)['events'] as JsonValue[]
        const result = await projectEnvelopes(
          projector,
          events.map((value) => ({ value })),
          'http',
        )
        return { body: { ...result } }
      },
    },
  ]
}
