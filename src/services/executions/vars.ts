// Variables of an execution that are read and written from outside. They are events like those of the engine, so the log says
// when each was set, and templates read them as `vars.<name>`.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { isTerminalStatus, noSuchExecution } from '../../domain/executions/executionStatus.js'
import { VARS_PARTS, variablesIn } from '../../domain/executions/variables.js'
import type { EventId, ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { lockExecutions } from '../../stores/executions/executionStore.js'
import type { LargeBodies } from '../bodies/largeBodies.js'
import type { Appender } from '../events/appender.js'
import type { LargeBody } from '../events/ingest.js'
import type { Ids } from '../ids/ids.js'
import type { StateService } from '../state/stateService.js'

export interface VarsDeps {
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
  state: Pick<StateService, 'ask'>
  large: Pick<LargeBodies, 'readVars'>
}

const decoder = new TextDecoder()

/** As they may be shown. */
export async function readVars(deps: VarsDeps, executionId: ExecutionId): Promise<JsonObject> {
  const { view } = await deps.state.ask(executionId, { view: true })
  const document = parseJson(decoder.decode(view))
  const vars = isJsonObject(document) ? document['vars'] : undefined
  return isJsonObject(vars) ? vars : {}
}

/** Answers how many. */
export async function writeVars(deps: VarsDeps, executionId: ExecutionId, body: JsonObject): Promise<number> {
  const vars = variablesIn(body)
  await append(deps, executionId, eventOf(deps, executionId, { vars }))
  return Object.keys(vars).length
}

/** The same of a body that is too large to be read here. */
export async function writeLargeVars(deps: VarsDeps, executionId: ExecutionId, body: LargeBody): Promise<number> {
  const event = eventOf(deps, executionId, {})
  const meta = event.meta as Record<string, string>
  const { count, written } = await deps.large.readVars({ ...body, meta })
  await append(deps, executionId, { ...event, written })
  return count
}

export function removeVar(deps: VarsDeps, executionId: ExecutionId, name: string): Promise<void> {
  return append(deps, executionId, eventOf(deps, executionId, { vars_removed: [name] }))
}

function eventOf(deps: VarsDeps, executionId: ExecutionId, what: JsonObject): EventRecord {
  const eventId = deps.ids.next() as EventId
  return {
    executionId,
    eventId,
    eventType: 'ctx.updated',
    ...VARS_PARTS,
    context: { ...VARS_PARTS.context, ...what },
    status: VARS_PARTS.result.status,
    meta: { emitter: 'orchestrator', idempotency_key: `vars:${eventId}` },
    createdAt: wireTimeFromMillis(deps.clock.now()),
    createdAtGiven: false,
  }
}

async function append(deps: VarsDeps, executionId: ExecutionId, event: EventRecord): Promise<void> {
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
    const owned = { ...event, tenantId, organizationId }
    const [outcome] = await write([{ event: owned, idGiven: false, publish: true, createExecution: false }])
    if (outcome?.kind !== 'stored') throw new CpError('refused', `the variables of ${executionId} were not written`)
  })
}
