// Variables of an execution, for workers and people.
import { type ExecutionId, parseExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import { readVars, removeVar, type VarsDeps, writeLargeVars, writeVars } from '../../../services/executions/vars.js'
import type { ApiRequest, RouteSpec } from '../../route.js'
import type { Schema } from '../../schema.js'

export interface VarRouteDeps {
  vars: VarsDeps
  /** Refuses ids that stand for something else. */
  assertExecution(id: string): Promise<void>
}

const GIVEN: Schema = { type: 'object', additionalProperties: true }
const DONE: Record<string, Schema> = { status: { type: 'string' }, execution_id: { type: 'string' } }
const WRITTEN: Schema = { type: 'object', properties: { ...DONE, count: { type: 'integer' } } }
const REMOVED: Schema = { type: 'object', properties: { ...DONE, name: { type: 'string' } } }

export function varRoutes({ vars, assertExecution }: VarRouteDeps): RouteSpec[] {
  const executionOf = async ({ params }: ApiRequest): Promise<ExecutionId> => {
    const id = parseExecutionId(params['execution_id'], 'execution_id')
    await assertExecution(id)
    return id
  }
  return [
    {
      method: 'GET',
      path: '/api/vars/:execution_id',
      summary: 'The variables of an execution',
      access: 'public',
      effect: 'read',
      responses: { 200: { type: 'object', description: 'by name' }, 404: 'unknown execution' },
      handler: async (request) => ({ body: await readVars(vars, await executionOf(request)) }),
    },
    {
      method: 'GET',
      path: '/api/vars/:execution_id/:name',
      summary: 'One variable of an execution',
      access: 'public',
      effect: 'read',
      responses: {
        200: { type: 'object', properties: { name: { type: 'string' }, value: {} } },
        404: 'unknown execution or variable',
      },
      handler: async (request) => {
        const id = await executionOf(request)
        const name = request.params['name'] ?? ''
        const all = await readVars(vars, id)
        const value = Object.hasOwn(all, name) ? all[name] : undefined
        if (value === undefined)
          throw new CpError('not_found', `execution ${id} has no variable ${JSON.stringify(name)}`)
        return { body: { name, value } }
      },
    },
    {
      method: 'POST',
      path: '/api/vars/:execution_id',
      summary: 'Set variables: {name: value}, or {variables: [{var_name, var_value}]}',
      access: 'public',
      effect: 'write',
      bodySize: 'event',
      readsLarge: true,
      body: GIVEN,
      responses: { 200: WRITTEN, 400: 'malformed', 404: 'unknown execution', 409: 'it has ended' },
      handler: async (request) => {
        const id = await executionOf(request)
        const { large } = request
        const count =
          large === undefined
            ? await writeVars(vars, id, request.body as JsonObject)
            : await writeLargeVars(vars, id, { bytes: large, schema: GIVEN })
        return { body: { status: 'ok', execution_id: id, count } }
      },
    },
    {
      method: 'DELETE',
      path: '/api/vars/:execution_id/:name',
      summary: 'Remove a variable',
      access: 'public',
      effect: 'write',
      responses: { 200: REMOVED, 404: 'unknown execution', 409: 'it has ended' },
      handler: async (request) => {
        const id = await executionOf(request)
        const name = request.params['name'] ?? ''
        await removeVar(vars, id, name)
        return { body: { status: 'ok', execution_id: id, name } }
      },
    },
  ]
}
