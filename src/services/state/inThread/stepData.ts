// The data of the last finished visit of a step, from the log: for whoever waited for the execution and wants one of its
// steps. Folded and thrown away, because the execution has ended and nobody holds its state.

import type { Db } from '../../../db/db.js'
import { visitDataOf } from '../../../domain/engine/visitData.js'
import { noSuchExecution } from '../../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../../domain/ids/ids.js'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { applyNumbered, emptyLiveState, type LiveState } from '../../../domain/state/liveState.js'
import type { WorkflowEvent } from '../../../domain/state/workflowEvent.js'
import { readTail } from '../../../stores/state/stateStore.js'

const PAGE = 2_000

/** As JSON text: threads hand over no numbers of more than 53 bits. */
export interface StepDataText {
  data: string
  reference: string | undefined
}

export async function readStepData(db: Db, executionId: string, step: string): Promise<StepDataText> {
  const live = emptyLiveState(executionId as ExecutionId)
  for (;;) {
    const tail = await readTail(db, executionId, live.version, PAGE)
    if (tail === undefined) throw noSuchExecution(executionId)
    for (const { event, version } of tail.events) applyNumbered(live, event as WorkflowEvent, version)
    if (tail.events.length < PAGE) break
  }
  const { data, reference } = lastFinished(live, step)
  return { data: writeJson(data), reference: reference === undefined ? undefined : writeJson(reference) }
}

function lastFinished({ state }: LiveState, name: string): { data: JsonValue; reference: JsonObject | undefined } {
  const step = state.driven?.steps.get(name)
  const visit = step === undefined ? undefined : step.visits.get(step.lastFinished)
  if (step === undefined || visit === undefined) return { data: null, reference: undefined }
  const { data, reference } = visitDataOf(step.lastFinished, visit)
  return { data, reference: reference?.document }
}
