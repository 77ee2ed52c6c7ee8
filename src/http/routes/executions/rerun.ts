// POST /api/executions/{id}/rerun: the same playbook with the same workload once more.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { type RerunDeps, rerunExecution } from '../../../services/executions/rerun.js'
import type { RouteSpec } from '../../route.js'
import { traceContextOf } from '../../traceContext.js'
import { STARTED, startedOf } from './execute.js'

export interface RerunRouteDeps {
  rerun: RerunDeps
}

export function rerunRoutes({ rerun }: RerunRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/executions/:execution_id/rerun',
      summary: 'Start the playbook of an execution again: same version, same workload',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      body: {
        type: 'object',
        properties: {
          workload: { type: 'object', nullable: true, description: 'values that replace those of before' },
        },
      },
      bodyOptional: true,
      responses: { 200: STARTED, 404: 'unknown execution, or its catalog entry is gone', 422: 'it cannot be started' },
      handler: async ({ params, body, headers }) => {
        const workload = isJsonObject(body) ? body['workload'] : undefined
        const started = await rerunExecution(rerun, {
          executionId: parseExecutionId(params['execution_id'], 'execution_id'),
          workload: isJsonObject(workload) ? workload : {},
          traceContext: traceContextOf(headers),
        })
        return { body: startedOf(started) }
      },
    },
  ]
}
