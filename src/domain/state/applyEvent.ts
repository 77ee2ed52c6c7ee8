// Takes one event into the live state. It changes the state in place and says whether anything changed;
// applying an event again changes nothing, and the order of application does not matter (see
// workflowState.ts for why). Its cost does not grow with the length of the history.

import { CpError } from '../../errors.js'
import { canonicalEventType, isRunningEventType, meaningOf, terminalStatusOf } from '../events/eventType.js'
import { ADOPTED_EVENT_TYPE } from '../executions/drivenStart.js'
import { errorText } from '../executions/executionEffect.js'
import { compareIds } from '../ids/ids.js'
import { canonicalJson } from '../json/canonical.js'
import type { JsonValue } from '../json/value.js'
import { applyCommand, applyDone, applyOutcome, payloadLength } from './applyCommand.js'
import { applyDriven } from './applyDriven.js'
import { emptyDrivenState } from './drivenState.js'
import {
  commandIdOf,
  flagIn,
  isFromWorker,
  isOwnEvent,
  ORCHESTRATE_NODE,
  objectAt,
  own,
  payloadOf,
  type WorkflowEvent,
  wholeNumberAt,
} from './workflowEvent.js'
import {
  ENTRY_BYTES,
  type EnterFact,
  type Fact,
  isAfter,
  isStale,
  keepLatest,
  type Register,
  STEP_BYTES,
  type StepFacts,
  type WorkflowState,
} from './workflowState.js'

export function applyEvent(state: WorkflowState, event: WorkflowEvent): boolean {
  if (event.executionId !== state.executionId) {
    throw new CpError(
      'internal',
      `event ${event.eventId} of execution ${event.executionId} was applied to another one`,
      {
        details: { event_id: event.eventId, execution_id: event.executionId, state: state.executionId },
      },
    )
  }
  if (event.nodeName === ORCHESTRATE_NODE) return false
  const changed = applyHeader(state, event)
  const type = canonicalEventType(event.eventType)
  const { driven } = state
  if (type === 'ctx.updated') {
    if (driven !== undefined && !isOwnEvent(event)) return changed
    return applyCtx(state, event) || changed
  }
  if (driven !== undefined) return applyDriven(state, driven, event) || changed
  const step = event.nodeName
  if (step === undefined || step === '' || meaningOf(type).folded !== true) return changed
  return applyStep(state, stepOf(state, step), type, event) || changed
}

function applyHeader(state: WorkflowState, event: WorkflowEvent): boolean {
  let changed = false
  const { eventId: id, createdAt: at, eventType, catalogId } = event
  if (catalogId !== undefined && catalogId !== '0' && isBefore(id, state.catalog?.id)) {
    state.catalog = { id, value: catalogId }
    changed = true
  }
  const status = terminalStatusOf(eventType)
  if (status !== undefined) changed = keepLatest(state, 'end', { id, at, status }) || changed
  const type = canonicalEventType(eventType)
  if (type === ADOPTED_EVENT_TYPE) return applyMark(state, event) || changed
  if (!isRunningEventType(eventType)) return changed
  if (!state.running) {
    state.running = true
    changed = true
  }
  if (type === 'playbook.started' || type === 'playbook.initialized') changed = applyStart(state, event) || changed
  return changed
}

function applyStart(state: WorkflowState, event: WorkflowEvent): boolean {
  let changed = false
  const { eventId: id, createdAt: at } = event
  if (isBefore(id, state.started?.id)) {
    state.started = { id, at }
    changed = true
  }
  changed = applyMark(state, event) || changed
  if (event.parentExecutionId !== undefined) {
    changed = keepLatest(state, 'parent', { id, value: event.parentExecutionId }) || changed
  }
  const direct = objectAt(event.context)
  const payload = Object.keys(direct).length > 0 ? direct : payloadOf(event)
  for (const key of ['workload', 'path', 'version'] as const) {
    const value = own(payload, key)
    if (value !== undefined) changed = keepPayload(state, state, key, id, value) || changed
  }
  return changed
}

/** The engine goes on from nothing but what it has decided itself. */
function applyMark(state: WorkflowState, event: WorkflowEvent): boolean {
  const engine = wholeNumberAt(objectAt(event.meta), 'engine')
  if (engine === undefined || !isOwnEvent(event) || state.driven !== undefined || state.steps.size > 0) return false
  state.driven = emptyDrivenState(engine)
  return true
}

function applyCtx(state: WorkflowState, event: WorkflowEvent): boolean {
  let changed = false
  const payload = payloadOf(event)
  const values = objectAt(payload, 'values')
  for (const key of Object.keys(values))
    changed = keepText(state, state.ctx, key, event.eventId, canonicalJson(values[key] ?? null)) || changed
  const vars = objectAt(payload, 'vars')
  for (const key of Object.keys(vars)) {
    changed = keepText(state, state.vars, key, event.eventId, canonicalJson(vars[key] ?? null)) || changed
  }
  const removed = own(payload, 'vars_removed')
  for (const key of Array.isArray(removed) ? removed : []) {
    if (typeof key === 'string') changed = keepText(state, state.vars, key, event.eventId, '') || changed
  }
  const named = own(payload, 'step')
  const step = typeof named === 'string' ? named : event.nodeName
  const mark = own(payload, 'gen')
  if (step !== undefined && mark !== undefined) {
    changed = keepText(state, state.marks, step, event.eventId, canonicalJson(mark)) || changed
  }
  return changed
}

function applyStep(state: WorkflowState, step: StepFacts, type: string, event: WorkflowEvent): boolean {
  const fact: Fact = { id: event.eventId, at: event.createdAt }
  switch (type) {
    case 'step.enter':
      return applyEnter(state, step, event, fact)
    case 'step.skipped':
      return keepLatest(step, 'skipped', fact)
    case 'step.failed': {
      const error = errorText(event)
      return keepLatest(step, 'failed', error === undefined ? fact : { ...fact, error })
    }
    case 'call.done':
      return applyDone(state, step, event, fact)
    case 'step.exit':
    case 'command.completed':
    case 'command.failed':
      return applyOutcome(state, step, type, event, fact)
    default:
      return applyCommand(state, step, type, event, fact)
  }
}

/**
 * The orchestrator's step.enter opens a visit. Workers of the older generation send one as well, after the
 * command was issued; that one must not make its own command look like one of an earlier visit.
 */
function applyEnter(state: WorkflowState, step: StepFacts, event: WorkflowEvent, fact: Fact): boolean {
  if (isFromWorker(event) || commandIdOf(event) !== undefined) return keepLatest(step, 'entered', fact)
  const enter: EnterFact = { ...fact }
  const expected =
    wholeNumberAt(objectAt(event.result, 'context'), 'iterations_expected') ??
    wholeNumberAt(objectAt(event.context), 'iterations_expected')
  if (expected !== undefined) enter.expected = expected
  if (flagIn(event, '__cursor_loop')) enter.cursor = true
  if (!keepLatest(step, 'enter', enter)) return false
  for (const [id, command] of step.commands) {
    if (!isStale(step, command)) continue
    step.commands.delete(id)
    step.stale.add(id)
    state.bytes -= payloadLength(command)
  }
  return true
}

function stepOf(state: WorkflowState, name: string): StepFacts {
  let step = state.steps.get(name)
  if (step === undefined) {
    step = { commands: new Map(), stale: new Set() }
    state.steps.set(name, step)
    state.bytes += STEP_BYTES + name.length
  }
  return step
}

function isBefore(id: string, bound: string | undefined): boolean {
  return bound === undefined || compareIds(id, bound) < 0
}

function keepPayload<K extends string>(
  state: WorkflowState,
  holder: { [key in K]?: Register<string> },
  key: K,
  id: string,
  value: JsonValue,
): boolean {
  const before = holder[key]
  if (!isAfter(id, before?.id)) return false
  const text = canonicalJson(value)
  holder[key] = { id, value: text }
  state.bytes += text.length - (before?.value.length ?? 0)
  return true
}

function keepText(
  state: WorkflowState,
  map: Map<string, Register<string>>,
  key: string,
  id: string,
  text: string,
): boolean {
  const before = map.get(key)
  if (!isAfter(id, before?.id)) return false
  map.set(key, { id, value: text })
  state.bytes += before === undefined ? ENTRY_BYTES + key.length + text.length : text.length - before.value.length
  return true
}
