// A container that calls back: ends the command that was parked for it.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import {
  CONTAINER_ENDS,
  type ContainerCallbackDeps,
  type ContainerEnd,
  callBack,
} from '../../../services/commands/containerCallback.js'
import type { RouteSpec } from '../../route.js'

export interface ContainerCallbackRouteDeps {
  containerCallback: ContainerCallbackDeps
}

export function containerCallbackRoutes({ containerCallback }: ContainerCallbackRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/internal/container-callback/:execution_id/:step',
      summary: 'A container that a worker did not wait for has ended: answers the command that is parked for it',
      access: 'internal',
      effect: 'write',
      bodySize: 'event',
      body: {
        type: 'object',
        required: ['state'],
        additionalProperties: true,
        properties: {
          state: { type: 'string', enum: CONTAINER_ENDS },
          job_name: { type: 'string', nullable: true },
          message: { type: 'string', nullable: true },
          command_id: { type: 'string', nullable: true, description: 'where several of the step are parked' },
        },
      },
      responses: {
        200: {
          type: 'object',
          properties: { status: { type: 'string' }, command_id: { type: 'string' }, reason: { type: 'string' } },
        },
        400: 'malformed',
        404: 'unknown execution',
        409: 'nothing of this step waits for a call-back, or several and command_id does not say which',
      },
      handler: async ({ params, body }) => {
        const said = body as JsonObject
        const { commandId, outcome } = await callBack(containerCallback, {
          executionId: parseExecutionId(params['execution_id'], 'execution_id'),
          step: params['step']!,
          commandId: (said['command_id'] ?? undefined) as string | undefined,
          state: said['state'] as ContainerEnd,
          said,
        })
        const answer = outcome.kind === 'stored' ? { status: 'ok' } : { status: 'ignored', reason: outcome.reason }
        return { body: { ...answer, command_id: commandId } }
      },
    },
  ]
}
