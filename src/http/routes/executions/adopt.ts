// POST /api/executions/{id}/adopt: let the engine drive an execution that was started without it.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { adoptForEngine } from '../../../services/executions/engineAdoption.js'
import type { ExecutionsDeps } from '../../../services/executions/executions.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, ID, ID_OR_NULL } from '../../schema.js'
import { traceContextOf } from '../../traceContext.js'
import { number } from './shapes.js'

export interface AdoptRouteDeps {
  executions: ExecutionsDeps
}

export function adoptRoutes({ executions }: AdoptRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/executions/:execution_id/adopt',
      summary: 'Let the engine drive an execution that was started without it, and of which nothing has begun',
      access: 'public',
      effect: 'write',
      body: {
        type: 'object',
        properties: { reason: { type: 'string', nullable: true, maxLength: 2000, description: 'kept in the event' } },
      },
      bodyOptional: true,
      responses: {
        200: answerOf({
          execution_id: ID,
          status: { type: 'string', enum: ['adopted', 'driven'], description: 'driven: it was so before' },
          event_id: ID_OR_NULL,
        }),
        404: 'unknown execution',
        409: 'somebody writes its events at this moment',
        422: 'it has ended, has begun without the engine, cannot run, or belongs to another version of the engine',
      },
      handler: async ({ params, body, headers }) => {
        const executionId = parseExecutionId(params['execution_id'], 'execution_id')
        const reason = isJsonObject(body) ? body['reason'] : undefined
        const adoption = await adoptForEngine(executions, {
          executionId,
          reason: typeof reason === 'string' ? reason : undefined,
          traceContext: traceContextOf(headers),
        })
        return {
          body: {
            execution_id: number(executionId),
            status: adoption.status,
            event_id: adoption.status === 'adopted' ? number(adoption.eventId) : null,
          },
        }
      },
    },
  ]
}
