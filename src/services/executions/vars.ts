// Variables of an execution that are read and written from outside. They are events like those of the engine, so the log says
// when each was set, and templates read them as `vars.<name>`.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isTerminalStatus, noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import type { Appender } from '../events/appender.js'
import type { Ids } from '../ids/ids.js'
import type { StateService } from '../state/stateService.js'

export interface VarsDeps {
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
  state: Pick<StateService, 'ask'>
}

const decoder = new TextDecoder()

/** As they may be shown. */
export async function readVars(deps: VarsDeps, executionId: ExecutionId): Promise<JsonObject> {
  const { view } = await deps.state.ask(executionId, { view: true })
  const document = parseJson(decoder.decode(view))
  const vars = isJsonObject(document) ? document['vars'] : undefined
  return isJsonObject(vars) ? vars : {}
}

/** Both forms that workers and servers use: `{name: value}`, and a list of `{var_name, var_value}`. */
export function variablesIn(body: JsonObject): JsonObject {
  const list = body['variables']
  if (!Array.isArray(list)) return isJsonObject(list) ? list : body
  const vars: JsonObject = {}
  for (const [index, item] of list.entries()) {
    const name = isJsonObject(item) ? item['var_name'] : undefined
    if (!isJsonObject(item) || typeof name !== 'string' || name === '') {
      throw new CpError('invalid_input', `/variables/${index}/var_name must be a text`)
    }
    setKey(vars, name, item['var_value'] ?? null)
  }
  return vars
}

export function writeVars(deps: VarsDeps, executionId: ExecutionId, vars: JsonObject): Promise<void> {
  return append(deps, executionId, { vars })
}

export function removeVar(deps: VarsDeps, executionId: ExecutionId, name: string): Promise<void> {
  return append(deps, executionId, { vars_removed: [name] })
}

async function append(deps: VarsDeps, executionId: ExecutionId, what: JsonObject): Promise<void> {
  await deps.appender.appendWith(executionId, async (tx, write) => {
    const execution = (await lockExecutions(tx, [executionId])).get(executionId)
    if (execution === undefined) throw noSuchExecution(executionId)
    if (isTerminalStatus(execution.summary.status)) {
      throw new CpError(
        'conflict',
        `execution ${executionId} is ${execution.summary.status}; its variables stay as they are`,
      )
    }
    const { tenantId, organizationId } = execution
    const eventId = deps.ids.next() as EventId
    const context: JsonValue = { values: {}, ...what }
    const event: EventRecord = {
      executionId,
      eventId,
      eventType: 'ctx.updated',
      status: 'CONTEXT',
      context,
      result: { status: 'CONTEXT' },
      meta: { emitter: 'orchestrator', idempotency_key: `vars:${eventId}` },
      tenantId,
      organizationId,
      createdAt: wireTimeFromMillis(deps.clock.now()),
      createdAtGiven: false,
    }
    const [outcome] = await write([{ event, idGiven: false, publish: true, createExecution: false }])
    if (outcome?.kind !== 'stored') throw new CpError('refused', `the variables of ${executionId} were not written`)
  })
}
