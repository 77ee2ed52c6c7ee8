// GET /api/executions/{id}/result: the result of an execution as data.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { type ExecutionResultDeps, executionResult } from '../../../services/executions/executionResult.js'
import type { RouteSpec } from '../../route.js'

export interface ResultRouteDeps {
  results: ExecutionResultDeps
}

export function resultRoutes({ results }: ResultRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/result',
      summary: 'What an execution gave, or the last finished visit of a step: the data itself',
      access: 'public',
      effect: 'read',
      isLarge: true,
      query: { step: { type: 'string', description: 'the data of this step' } },
      responses: {
        200: 'the data, of any JSON type',
        404: 'unknown execution, or a step that never finished',
        422: 'it has not completed',
      },
      handler: async ({ params, query }) => {
        const id = parseExecutionId(params['execution_id'], 'execution_id')
        const given = await executionResult(results, id, query['step'])
        return 'bytes' in given ? given : { body: given.data }
      },
    },
  ]
}
