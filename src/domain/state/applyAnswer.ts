// Facts about one command of a driven execution: issued, claimed, started, answered, ended. Of several answers the
// one of the highest attempt counts, and of one attempt the first.

import { errorText } from '../executions/executionEffect.js'
import { compareIds } from '../ids/ids.js'
import { canonicalJson } from '../json/canonical.js'
import type { JsonValue } from '../json/value.js'
import { type CommandPlace, parseCommandId } from './commandId.js'
import {
  type Command,
  type CommandAnswer,
  type CommandEnding,
  type CommandIssued,
  commandStatus,
  countCommand,
  type Visit,
} from './drivenState.js'
import { weighCommand } from './drivenWeight.js'
import {
  answerDocument,
  attemptOf,
  commandIdOf,
  envelopesOf,
  flagIn,
  objectAt,
  own,
  payloadOf,
  saysError,
  type WorkflowEvent,
  wholeNumberAt,
} from './workflowEvent.js'
import type { Fact, WorkflowState } from './workflowState.js'

/** Where the event's command stands; undefined when it names none of its step. */
export function placeOfCommand(event: WorkflowEvent): CommandPlace | undefined {
  const id = commandIdOf(event)
  return id === undefined ? undefined : parseCommandId(event.executionId, event.nodeName ?? '', id)
}

export function applyAnswer(
  state: WorkflowState,
  visit: Visit,
  suffix: string,
  type: string,
  event: WorkflowEvent,
): boolean {
  if (visit.enter !== undefined && visit.exit !== undefined) return applyLate(state, visit, type, event)
  const known = visit.commands.get(suffix)
  const command = known ?? {}
  const before = known === undefined ? 0 : weighCommand(known)
  const was = commandStatus(command)
  const changed = applyTo(command, type, event)
  if (command.issued?.cursor?.phase === 'body') dropData(command)
  if (known === undefined) {
    if (!changed) return false
    visit.commands.set(suffix, command)
  }
  state.bytes += weighCommand(command) - before
  countCommand(visit.tally, suffix, was, commandStatus(command))
  return changed
}

/** After the visit only the answer that its exit was decided by is still wanted. */
function applyLate(state: WorkflowState, visit: Visit, type: string, event: WorkflowEvent): boolean {
  const isAnswer = type === 'call.done' || type === 'call.error'
  if (!isAnswer || event.eventId !== visit.exit?.answer || visit.answered !== undefined) return false
  visit.answered = canonicalJson(answerDocument(event))
  state.bytes += visit.answered.length
  return true
}

function applyTo(command: Command, type: string, event: WorkflowEvent): boolean {
  const fact: Fact = { id: event.eventId, at: event.createdAt }
  const attempt = attemptOf(event)
  switch (type) {
    case 'command.issued':
      if (command.issued !== undefined) return false
      command.issued = issuedFact(event, fact)
      return true
    case 'command.claimed': {
      const isNew = command.claimed === undefined
      command.claimed = true
      return raiseAttempt(command, attempt) || isNew
    }
    case 'command.started': {
      const isFirst = command.started === undefined || compareIds(fact.id, command.started) < 0
      if (isFirst) command.started = fact.id
      return raiseAttempt(command, attempt) || isFirst
    }
    case 'call.done':
      return keepDone(command, event, { ...fact, attempt })
    case 'call.error': {
      const isNew = keepFailure(command, event, { ...fact, attempt })
      // What the tool left behind is said here alone.
      const hasData = own(payloadOf(event), 'result') !== undefined
      return (hasData && keepDone(command, event, { ...fact, attempt })) || isNew
    }
    default:
      return keepEnding(command, type, event, { ...fact, attempt })
  }
}

function raiseAttempt(command: Command, attempt: number): boolean {
  if (attempt <= (command.attempt ?? 0)) return false
  command.attempt = attempt
  return true
}

function keepDone(command: Command, event: WorkflowEvent, fact: Fact & { attempt: number }): boolean {
  const document = answerDocument(event)
  const answer: CommandAnswer = { ...fact, result: canonicalJson(document) }
  if (envelopesOf(document).some(saysError)) answer.bad = true
  const { done, first, callback } = command
  if (done === undefined) {
    command.done = answer
    return true
  }
  if (done.id === answer.id || first?.id === answer.id || callback?.id === answer.id) return false
  // Of all of them the best is `done` and the newest, if it is another one, is the call back.
  const all = [done, first, callback, answer].filter((one) => one !== undefined)
  const best = all.reduce((a, b) => (isBetter(b, a) ? b : a))
  const newest = all.reduce((a, b) => (compareIds(b.id, a.id) > 0 ? b : a))
  const oldest = all.reduce((a, b) => (compareIds(b.id, a.id) < 0 ? b : a))
  const before = writeIds(command)
  command.done = best
  if (newest === best) delete command.callback
  else command.callback = newest
  if (oldest === best || oldest === newest) delete command.first
  else command.first = oldest
  return writeIds(command) !== before
}

function writeIds({ done, first, callback }: Command): string {
  return `${done?.id} ${first?.id} ${callback?.id}`
}

function keepFailure(command: Command, event: WorkflowEvent, fact: Fact & { attempt: number }): boolean {
  const error = errorOf(event)
  const before = command.failure
  if (error === undefined || (before !== undefined && (before.id === fact.id || !isBetter(fact, before)))) return false
  command.failure = { ...fact, error: canonicalJson(error) }
  return true
}

function keepEnding(command: Command, type: string, event: WorkflowEvent, fact: Fact & { attempt: number }): boolean {
  const ending: CommandEnding = { ...fact, completed: type === 'command.completed' }
  const isParked = ending.completed && flagIn(event, 'pending_callback')
  if (ending.completed) {
    if (saysError(objectAt(event.result)) || saysError(payloadOf(event))) ending.bad = true
  }
  const error = errorOf(event)
  if (error !== undefined && (!ending.completed || ending.bad === true)) ending.error = canonicalJson(error)
  const key = isParked ? 'parked' : 'outcome'
  const before = command[key]
  if (before !== undefined && (before.id === ending.id || !isBetter(ending, before))) return false
  command[key] = ending
  return true
}

/** A higher attempt beats a lower one; of one attempt the first counts. */
function isBetter(a: { id: string; attempt: number }, b: { id: string; attempt: number }): boolean {
  return a.attempt !== b.attempt ? a.attempt > b.attempt : compareIds(a.id, b.id) < 0
}

function errorOf(event: WorkflowEvent): JsonValue | undefined {
  const said = own(payloadOf(event), 'error') ?? own(objectAt(event.result), 'error')
  return said ?? errorText(event)
}

function issuedFact(event: WorkflowEvent, fact: Fact): CommandIssued {
  const meta = objectAt(event.meta)
  const issued: CommandIssued = { ...fact }
  const index = wholeNumberAt(meta, 'iteration_index')
  if (index !== undefined) issued.index = index
  const cursor = objectAt(meta, 'cursor')
  const phase = own(cursor, 'phase')
  if (phase === 'claim' || phase === 'body') {
    const [frame = 0, row = 0, run = 1, open = 0] = ['frame', 'row', 'run', 'open'].map((key) =>
      wholeNumberAt(cursor, key),
    )
    issued.cursor = { phase, frame, row, run, open }
  }
  const timeoutMs = wholeNumberAt(meta, 'timeout_ms')
  if (timeoutMs !== undefined) issued.timeoutMs = timeoutMs
  const child = own(meta, 'child_execution_id')
  if (typeof child === 'string') issued.child = child
  return issued
}

/** The rows of a cursor are worked on for their effect; nobody reads what a body returned. */
function dropData(command: Command): void {
  delete command.done?.result
  delete command.callback?.result
}
