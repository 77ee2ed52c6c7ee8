// The live state as the documented WorkflowState: snake case, ids as integers, empty collections, false flags
// and absent values left out. The keys come in a fixed order, so equal states give equal text. One exception
// to the leaving out: a cursor frame whose claim returned no rows says `claim_rows: []`, because a claim
// whose result is not known yet must not look like an empty one.

import { parseJson } from '../json/parse.js'
import { integerValue, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { viewDrivenStep } from './drivenView.js'
import { type CursorFrame, type StepInfo, viewStep } from './stepView.js'
import { type Register, type WorkflowState, workflowStatus } from './workflowState.js'

export function viewState(state: WorkflowState): JsonObject {
  const steps: JsonObject = {}
  for (const name of [...(state.driven ?? state).steps.keys()].sort()) {
    setKey(steps, name, stepToJson(viewStateStep(state, name)!))
  }
  return compact([
    ['execution_id', integer(state.executionId)],
    ['catalog_id', integer(state.catalog?.value ?? '0')],
    ['state', workflowStatus(state)],
    ['steps', nonEmpty(steps)],
    ['ctx', nonEmpty(registers(state.ctx))],
    ['ctx_set_marks', nonEmpty(registers(state.marks))],
    ['vars', nonEmpty(registers(state.vars))],
    ['workload', payload(state.workload?.value)],
    ['path', payload(state.path?.value)],
    ['version', payload(state.version?.value)],
    ['started_at', state.started?.at],
    ['completed_at', state.end?.at],
    ['parent_execution_id', state.parent && integer(state.parent.value)],
  ])
}

/** One step of the state, undefined if nothing is known about it. */
export function viewStateStep(state: WorkflowState, name: string): StepInfo | undefined {
  const driven = state.driven?.steps.get(name)
  if (driven !== undefined) return viewDrivenStep(state.executionId, name, driven)
  const facts = state.steps.get(name)
  return facts && viewStep(name, facts)
}

function stepToJson(info: StepInfo): JsonObject {
  const issued: JsonObject = {}
  for (const id of [...info.cursorIssued.keys()].sort()) {
    const place = info.cursorIssued.get(id)!
    setKey(issued, id, [place.phase, place.frame])
  }
  const frames: JsonObject = {}
  for (const index of [...info.cursorFrames.keys()].sort((a, b) => a - b)) {
    frames[String(index)] = frameToJson(info.cursorFrames.get(index)!)
  }
  const isLoop = info.iterationsExpected !== undefined
  return compact([
    ['name', info.name],
    ['state', info.state],
    ['result', payload(info.result)],
    ['error', info.error],
    ['entered_at', info.enteredAt],
    ['completed_at', info.completedAt],
    ['completed_event_id', info.completedEventId === undefined ? undefined : integer(info.completedEventId)],
    ['attempt', info.attempt],
    ['pending_callback', info.pendingCallback || undefined],
    ['uses_callback', info.usesCallback || undefined],
    ['iterations_expected', info.iterationsExpected],
    ['iteration_command_ids', nonEmptyList([...info.iterationCommandIds].sort())],
    ['iteration_results', nonEmptyList(info.iterationResults.map((text) => parseJson(text)))],
    ['iterations_dispatched', isLoop ? info.iterationsDispatched : undefined],
    ['is_cursor', info.isCursor || undefined],
    ['cursor_issued', nonEmpty(issued)],
    ['cursor_completed', nonEmptyList([...info.cursorCompleted].sort())],
    ['cursor_frames', nonEmpty(frames)],
  ])
}

function frameToJson(frame: CursorFrame): JsonObject {
  return compact([
    ['claim_completed', frame.claimCompleted || undefined],
    ['claim_rows', frame.claimRows],
    ['claim_ref', frame.claimRef],
    ['body_issued', frame.bodyIssued],
    ['body_completed', frame.bodyCompleted],
  ])
}

function registers(map: ReadonlyMap<string, Register<string>>): JsonObject {
  const object: JsonObject = {}
  for (const key of [...map.keys()].sort()) {
    const { value } = map.get(key)!
    if (value !== '') setKey(object, key, parseJson(value))
  }
  return object
}

function compact(entries: [string, JsonValue | undefined][]): JsonObject {
  const object: JsonObject = {}
  for (const [key, value] of entries) if (value !== undefined) object[key] = value
  return object
}

function nonEmpty(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length === 0 ? undefined : object
}

function nonEmptyList(list: JsonValue[]): JsonValue[] | undefined {
  return list.length === 0 ? undefined : list
}

function payload(text: string | undefined): JsonValue | undefined {
  return text === undefined ? undefined : parseJson(text)
}

function integer(id: string): JsonValue {
  return integerValue(BigInt(id))
}
