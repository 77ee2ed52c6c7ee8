// Live states: the WorkflowState document of an execution, and the route that brings states up to date on request.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { integerValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { toCpError } from '../../../errors.js'
import { withDeadline } from '../../../runtime/deadline.js'
import type { StateService } from '../../../services/state/stateService.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, ID, TEXT } from '../../schema.js'

export interface StateRouteDeps {
  /** Refuses ids that stand for something else. */
  assertExecution(id: string): Promise<void>
  state: Pick<StateService, 'ask' | 'owns'>
  /** Tells the daemon that drives it, when that is another one. */
  wakeOwners(executionIds: readonly string[]): void
}

const ADVANCE_MAX = 1_000
// A long log is built in seconds; whoever waits longer is told, while the building goes on for the next who asks.
const ANSWER_MS = 60_000

function inTime<T>(answer: Promise<T>, executionId: string): Promise<T> {
  return withDeadline(answer, ANSWER_MS, {
    what: `building the state of execution ${executionId} goes on, ask again; it`,
  })
}

export function stateRoutes({ assertExecution, state, wakeOwners }: StateRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/state',
      summary: 'The live state: every event of the log that is visible now is in it',
      access: 'public',
      effect: 'read',
      responses: {
        200: answerOf(
          {
            execution_id: ID,
            catalog_id: ID,
            state: TEXT,
            steps: { type: 'object', description: 'by name' },
            ctx: { type: 'object' },
            vars: { type: 'object' },
            workload: ANY,
            path: TEXT,
            version: COUNT,
            started_at: TEXT,
            completed_at: TEXT,
            parent_execution_id: ID,
          },
          'WorkflowState without what is empty; X-Noetl-State-Version says how many events it contains',
        ),
        404: 'unknown execution',
        503: 'the database is away',
        504: 'it takes longer than a minute to build; ask again',
      },
      handler: async ({ params }) => {
        const executionId = parseExecutionId(params['execution_id'], 'execution_id')
        await assertExecution(executionId)
        const { view, version } = await inTime(state.ask(executionId, { view: true }), executionId)
        return {
          headers: { 'x-noetl-state-version': String(version) },
          bytes: view!,
        }
      },
    },
    {
      method: 'POST',
      path: '/api/internal/projection/advance',
      summary: 'Bring the live states of executions up to date now',
      access: 'internal',
      effect: 'write',
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
            inTime(state.ask(id, { drive: true }), id).then(
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
