// POST /api/executions/{id}/rerun: the same playbook with the same workload once more.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { assignment } from '../../../domain/json/replaceAt.js'
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
      body: {
        type: 'object',
        properties: {
          workload: { type: 'object', nullable: true, description: 'values that replace those of before' },
          set: {
            type: 'object',
            nullable: true,
            description: 'by name, also with dots: {"a.b": 1} changes that and leaves the rest of a',
          },
          reason: { type: 'string', nullable: true, maxLength: 2_000, description: 'why, for the record of acts' },
        },
      },
      bodyOptional: true,
      responses: { 200: STARTED, 404: 'unknown execution, or its catalog entry is gone', 422: 'it cannot be started' },
      handler: async ({ params, body, headers }) => {
        const { workload, set } = isJsonObject(body) ? body : {}
        const started = await rerunExecution(rerun, {
          executionId: parseExecutionId(params['execution_id'], 'execution_id'),
          workload: isJsonObject(workload) ? workload : {},
          sets: isJsonObject(set) ? Object.entries(set).map(([name, value]) => assignment(name, value)) : [],
          traceContext: traceContextOf(headers),
        })
        return { body: startedOf(started) }
      },
    },
  ]
}
