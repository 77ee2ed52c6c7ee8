// POST /api/executions/{id}/resume: go on from an execution that has failed.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { isJsonObject } from '../../../domain/json/value.js'
import { type ResumeDeps, resumeExecution } from '../../../services/executions/resume.js'
import type { RouteSpec } from '../../route.js'
import { traceContextOf } from '../../traceContext.js'
import { number } from './shapes.js'

export interface ResumeRouteDeps {
  resuming: ResumeDeps
}

export function resumeRoutes({ resuming }: ResumeRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/executions/:execution_id/resume',
      summary: 'Go on from an execution that has failed or was cancelled: a new one that keeps what was done',
      access: 'public',
      effect: 'write',
      body: {
        type: 'object',
        properties: { latest: { type: 'boolean', description: 'by the newest version of the playbook' } },
      },
      bodyOptional: true,
      responses: {
        200: {
          type: 'object',
          properties: {
            execution_id: { format: 'int64' },
            resumed_from: { format: 'int64' },
            status: { type: 'string' },
            steps_again: { type: 'array', items: { type: 'string' } },
            events_kept: { type: 'integer' },
          },
        },
        404: 'unknown execution',
        413: 'too many events to be taken over',
        422: 'it runs, has completed, or is not driven by this engine',
      },
      handler: async ({ params, body, headers }) => {
        const executionId = parseExecutionId(params['execution_id'], 'execution_id')
        const latest = isJsonObject(body) && body['latest'] === true
        const resumed = await resumeExecution(resuming, { executionId, latest, traceContext: traceContextOf(headers) })
        return {
          body: {
            execution_id: number(resumed.executionId),
            resumed_from: number(executionId),
            status: 'started',
            steps_again: [...resumed.again],
            events_kept: resumed.kept,
          },
        }
      },
    },
  ]
}
