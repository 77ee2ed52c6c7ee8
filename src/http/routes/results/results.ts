// Results that are too large for an event: workers put them and get them by reference.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { TTL_SECONDS_MAX } from '../../../services/results/inThread/resultBytes.js'
import { type ResultsDeps, resolveResult, storeResult } from '../../../services/results/results.js'
import type { RouteSpec } from '../../route.js'

export interface StoredResultRouteDeps {
  storedResults: ResultsDeps
}

export function storedResultRoutes({ storedResults: results }: StoredResultRouteDeps): RouteSpec[] {
  return [
    {
      method: 'PUT',
      path: '/api/result/:execution_id',
      summary: 'Store a result that is too large for an event',
      access: 'public',
      effect: 'write',
      bodySize: 'result',
      rawBody: true,
      body: {
        type: 'object',
        required: ['name', 'data'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 255 },
          data: {},
          scope: { type: 'string', nullable: true },
          source_step: { type: 'string', nullable: true },
          ttl_seconds: {
            type: 'number',
            nullable: true,
            maximum: TTL_SECONDS_MAX,
            description: 'above 0; default: as long as the execution',
          },
        },
      },
      responses: {
        200: {
          type: 'object',
          properties: {
            ref: { type: 'string' },
            store: { type: 'string' },
            scope: { type: 'string' },
            bytes: { type: 'integer' },
            sha256: { type: 'string' },
            expires_at: { type: 'string', nullable: true },
          },
        },
        400: 'malformed',
        404: 'unknown execution',
        413: 'larger than a result may be, or than the room of its execution',
      },
      handler: async ({ params, rawBody }) => {
        const executionId = parseExecutionId(params['execution_id'], 'execution_id')
        if (rawBody === undefined || rawBody.length === 0) throw new CpError('invalid_input', 'a JSON body is needed')
        return { body: await storeResult(results, executionId, rawBody) }
      },
    },
    {
      method: 'GET',
      path: '/api/result/resolve',
      summary: 'The data of a stored result; with the internal token its secrets too',
      access: 'public',
      effect: 'read',
      isLarge: true,
      query: { ref: { type: 'string', minLength: 1, description: 'noetl://execution/<id>/result/<name>/<id>' } },
      responses: { 200: { description: 'the data itself' }, 400: 'no reference', 404: 'gone' },
      handler: async ({ query, isInternal }) => {
        const { ref } = query
        if (ref === undefined) throw new CpError('invalid_input', 'the query parameter ref is missing')
        return { bytes: await resolveResult(results, ref, !isInternal) }
      },
    },
  ]
}
