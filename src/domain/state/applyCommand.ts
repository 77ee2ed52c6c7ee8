// Facts about the commands of a step: issued, claimed, started, done, completed or failed. Events that name
// a command are kept by command, so that an answer always meets its own question, however late; the others
// are kept on the step. Commands of earlier visits are dropped to their bare id.

import { errorText } from '../executions/executionEffect.js'
import { compareIds } from '../ids/ids.js'
import { canonicalJson } from '../json/canonical.js'
import {
  commandIdOf,
  cursorOf,
  flagIn,
  objectAt,
  payloadOf,
  saysError,
  type WorkflowEvent,
  wholeNumberAt,
} from './workflowEvent.js'
import {
  COMMAND_BYTES,
  type CommandFacts,
  type DoneFact,
  type Fact,
  type IssuedFact,
  isStale,
  keepLatest,
  type OutcomeFact,
  type StartedFact,
  type StepFacts,
  type WorkflowState,
} from './workflowState.js'

/** command.issued, command.claimed and command.started. */
export function applyCommand(
  state: WorkflowState,
  step: StepFacts,
  type: string,
  event: WorkflowEvent,
  fact: Fact,
): boolean {
  const named = commandIdOf(event)
  if (type === 'command.issued') {
    // Without a name it is still one command, and the same one when the event comes again.
    return onCommand(state, step, named ?? `event:${event.eventId}`, fact.id, (command) => keepIssued(command, event))
  }
  if (type === 'command.claimed') {
    if (named === undefined) return keepLatest(step, 'claimed', fact)
    return onCommand(state, step, named, fact.id, (command) => {
      const changed = command.claimed !== true
      command.claimed = true
      return changed
    })
  }
  const started: StartedFact = { id: fact.id }
  const attempt = wholeNumberAt(objectAt(event.meta), 'attempt')
  if (attempt !== undefined) started.attempt = attempt
  if (named === undefined) return keepLatest(step, 'started', { ...fact, ...started })
  return onCommand(state, step, named, fact.id, (command) => keepLatest(command, 'started', started))
}

/** call.done: the result itself, while the completion only says that there is one. */
export function applyDone(state: WorkflowState, step: StepFacts, event: WorkflowEvent, fact: Fact): boolean {
  const done: DoneFact = { ...fact, result: canonicalJson(event.result ?? null) }
  const named = commandIdOf(event)
  if (named === undefined) return keepSized(state, step, 'done', done)
  return onCommand(state, step, named, fact.id, (command) => keepSized(state, command, 'done', done))
}

/** command.completed, command.failed and step.exit. */
export function applyOutcome(
  state: WorkflowState,
  step: StepFacts,
  type: string,
  event: WorkflowEvent,
  fact: Fact,
): boolean {
  const named = commandIdOf(event)
  if (type === 'command.failed') {
    const error = errorText(event)
    const failure = error === undefined ? fact : { ...fact, error }
    if (named === undefined) return keepLatest(step, 'failed', failure)
    const outcome: OutcomeFact = { ...failure, ok: false }
    return onCommand(state, step, named, fact.id, (command) => keepSized(state, command, 'outcome', outcome))
  }
  const exit: DoneFact = event.result === undefined ? fact : { ...fact, result: canonicalJson(event.result) }
  if (flagIn(event, '__cursor_drained')) return keepSized(state, step, 'drained', exit)
  if (named === undefined) return keepSized(state, step, 'exit', exit)
  if (type === 'step.exit') {
    return onCommand(state, step, named, fact.id, (command) => keepSized(state, command, 'exit', exit))
  }
  // A tool that failed is not a success, whatever the event is called.
  const isError = saysError(objectAt(event.result)) || saysError(payloadOf(event))
  const outcome: OutcomeFact = { ...exit, ok: !isError }
  const error = isError ? errorText(event) : undefined
  if (error !== undefined) outcome.error = error
  if (flagIn(event, 'pending_callback')) outcome.parked = true
  return onCommand(state, step, named, fact.id, (command) => keepSized(state, command, 'outcome', outcome))
}

function onCommand(
  state: WorkflowState,
  step: StepFacts,
  commandId: string,
  eventId: string,
  change: (command: CommandFacts) => boolean,
): boolean {
  if (step.stale.has(commandId)) return false
  let command = step.commands.get(commandId)
  let changed = false
  if (command === undefined) {
    command = { first: eventId }
    step.commands.set(commandId, command)
    state.bytes += COMMAND_BYTES + commandId.length
    changed = true
  } else if (compareIds(eventId, command.first) < 0) {
    command.first = eventId
    changed = true
  }
  changed = change(command) || changed
  if (isStale(step, command)) {
    state.bytes -= payloadLength(command)
    step.commands.delete(commandId)
    step.stale.add(commandId)
  } else if (command.issued?.cursor?.phase === 'body') {
    // The rows of a cursor are worked on for their effect; nobody reads what a body returned.
    state.bytes -= payloadLength(command)
    delete command.done?.result
    delete command.outcome?.result
    delete command.exit?.result
  }
  return changed
}

function keepIssued(command: CommandFacts, event: WorkflowEvent): boolean {
  if (command.issued !== undefined && compareIds(event.eventId, command.issued.id) >= 0) return false
  const issued: IssuedFact = { id: event.eventId }
  const cursor = cursorOf(event)
  if (cursor !== undefined) issued.cursor = cursor
  const total = wholeNumberAt(objectAt(event.meta), 'iteration_total')
  if (total !== undefined) issued.total = total
  const index = wholeNumberAt(objectAt(event.meta), 'iteration_index')
  if (index !== undefined) issued.index = index
  command.issued = issued
  return true
}

function keepSized<T extends object, K extends keyof T>(
  state: WorkflowState,
  holder: T,
  key: K,
  fact: NonNullable<T[K]> & { id: string; result?: string },
): boolean {
  const before = (holder[key] as { result?: string } | undefined)?.result?.length ?? 0
  if (!keepLatest(holder, key, fact)) return false
  state.bytes += (fact.result?.length ?? 0) - before
  return true
}

export function payloadLength(command: CommandFacts): number {
  const { done, outcome, exit } = command
  return (done?.result?.length ?? 0) + (outcome?.result?.length ?? 0) + (exit?.result?.length ?? 0)
}
