// Writes what the orchestrator decided: all its events, its key and the proof that this daemon still owns the
// execution in one transaction. A decision that was made before, by whomever, is dropped; so is one for an execution
// that has ended meanwhile.
import type { EventRecord } from '../../domain/events/eventRecord.js'
import type { EventId, ExecutionId } from '../../domain/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { isJsonObject } from '../../domain/json/value.js'
import { wireTimeFromMillis } from '../../domain/wireTime.js'
import type { Decision, EmittedEvent } from '../../domain/workflow/orchestrator.js'
import type { Clock } from '../../runtime/clock.js'
import { lockExecutions } from '../../stores/executionStore.js'
import { type Fence, holdFence } from '../../stores/stateLaneStore.js'
import { claimDecision } from '../../stores/stateStore.js'
import type { Appender } from '../append/appender.js'
import type { AppendItem } from '../append/appendInTx.js'
import type { Ids } from '../ids.js'

export interface DecisionDeps {
  appender: Appender
  ids: Pick<Ids, 'next'>
  clock: Clock
}

/** `fenced`: the lane had gone to another daemon, which decides now. */
export type DecisionOutcome = 'appended' | 'repeated' | 'fenced' | 'ended'

const TERMINAL = new Set(['COMPLETED', 'FAILED', 'CANCELLED'])

export function appendDecision(
  deps: DecisionDeps,
  request: { executionId: string; version: number; decision: Decision; fence: Fence },
): Promise<DecisionOutcome> {
  const { executionId, decision } = request
  return deps.appender.appendWith(executionId, async (tx, append): Promise<DecisionOutcome> => {
    const [held, locked] = await Promise.all([holdFence(tx, request.fence), lockExecutions(tx, [executionId])])
    if (!held) return 'fenced'
    const execution = locked.get(executionId)
    if (execution === undefined || TERMINAL.has(execution.summary.status)) return 'ended'
    if (!(await claimDecision(tx, executionId, decision.key, request.version))) return 'repeated'
    const createdAt = wireTimeFromMillis(deps.clock.now())
    const { tenantId, organizationId } = execution
    const items = decision.events.map((emitted): AppendItem => {
      const event: EventRecord = {
        ...toEvent(emitted, decision.key),
        executionId: executionId as ExecutionId,
        eventId: deps.ids.next() as EventId,
        tenantId,
        organizationId,
        createdAt,
        createdAtGiven: false,
      }
      return { event, idGiven: false, publish: true, createExecution: false }
    })
    if (items.length > 0) await append(items)
    return 'appended'
  })
}

function toEvent(emitted: EmittedEvent, key: string): Pick<EventRecord, 'eventType' | 'meta' | 'status' | 'result'> {
  const { meta, status = 'STARTED', ...rest } = emitted
  const said: JsonObject = isJsonObject(meta) ? meta : {}
  return {
    ...rest,
    status,
    result: emitted.result ?? { status },
    meta: { ...said, emitter: 'orchestrator', idempotency_key: key },
  }
}
