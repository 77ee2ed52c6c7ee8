// Live states: the WorkflowState document of an execution, and the route that brings states up to date on request.
import { parseExecutionId } from '../../domain/ids.js'
import { integerValue, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { toCpError } from '../../errors.js'
import type { StateService } from '../../services/state/stateService.js'
import type { RouteSpec } from '../route.js'

export interface StateRouteDeps {
  state: Pick<StateService, 'ask' | 'owns'>
  /** Tells the daemon that drives it, when that is another one. */
  wakeOwners(executionIds: readonly string[]): void
}

const ADVANCE_MAX = 1_000

export function stateRoutes({ state, wakeOwners }: StateRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/state',
      summary: 'The live state: every event of the log that is visible now is in it',
      access: 'public',
      responses: {
        200: { type: 'object', description: 'WorkflowState; X-Noetl-State-Version says how many events it contains' },
        404: 'unknown execution',
        503: 'the database is away',
      },
      handler: async ({ params }) => {
        const executionId = parseExecutionId(params['execution_id'], 'execution_id')
        const { view, version } = await state.ask(executionId, { view: true })
        return {
          headers: { 'x-noetl-state-version': String(version) },
          text: Buffer.from(view!).toString('utf8'),
          contentType: 'application/json; charset=utf-8',
        }
      },
    },
    {
      method: 'POST',
      path: '/api/internal/projection/advance',
      summary: 'Bring the live states of executions up to date now',
      access: 'internal',
      body: {
        type: 'object',
        required: ['execution_ids'],
        properties: {
          execution_ids: { type: 'array', minItems: 1, maxItems: ADVANCE_MAX, items: { format: 'int64' } },
        },
      },
      responses: {
        200: {
          type: 'object',
          properties: {
            advanced: { type: 'array', description: 'execution_id, version, events applied by this call' },
            failed: { type: 'array', description: 'execution_id, error' },
          },
        },
        400: 'malformed',
      },
      handler: async ({ body }) => {
        const given = (body as JsonObject)['execution_ids'] as JsonValue[]
        const ids = [...new Set(given.map((id, index) => parseExecutionId(id, `/execution_ids/${index}`)))]
        const settled = await Promise.all(
          ids.map((id) =>
            state.ask(id, { drive: true }).then(
              ({ version, applied }) => ({ id, version, applied }),
              (error: unknown) => ({ id, error: toCpError(error).message }),
            ),
          ),
        )
        wakeOwners(ids.filter((id) => !state.owns(id)))
        const advanced: JsonValue[] = []
        const failed: JsonValue[] = []
        for (const row of settled) {
          const execution_id = integerValue(BigInt(row.id))
          if ('error' in row) failed.push({ execution_id, error: row.error })
          else advanced.push({ execution_id, version: row.version, events: row.applied })
        }
        return { body: { advanced, failed } }
      },
    },
  ]
}
