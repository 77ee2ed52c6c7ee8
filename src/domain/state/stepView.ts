// What is to be seen of a step, derived from its facts: state, result, iterations, cursor frames. Only the
// current visit counts. A command's own outcome beats everything said about it on the way, so that a late
// "started" never takes a completed step back. Nothing here changes the facts.

import type { WireTime } from '../events/wireTime.js'
import { compareIds } from '../ids/ids.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import { own, resultReference, toolData } from './workflowEvent.js'
import {
  type CommandFacts,
  type DoneFact,
  isAfter,
  type OutcomeFact,
  orderIdOf,
  type PayloadText,
  type StepFacts,
} from './workflowState.js'

export type StepState =
  | 'pending'
  | 'entered'
  | 'command_issued'
  | 'command_claimed'
  | 'command_started'
  | 'completed'
  | 'failed'
  | 'skipped'

export interface CursorFrame {
  claimCompleted: boolean
  /** Undefined until the claim's result is known: no rows yet is not the same as none. */
  claimRows?: JsonValue[]
  claimRef?: JsonValue
  bodyIssued: number
  bodyCompleted: number
}

export interface StepInfo {
  name: string
  state: StepState
  result?: PayloadText
  error?: string
  enteredAt?: WireTime
  completedAt?: WireTime
  completedEventId?: string
  attempt: number
  pendingCallback: boolean
  usesCallback: boolean
  iterationsExpected?: number
  /** By index of the item; those of commands without one in the order of completion. */
  iterationCommandIds: string[]
  iterationResults: PayloadText[]
  iterationsDispatched: number
  isCursor: boolean
  cursorIssued: Map<string, { phase: string; frame: number }>
  cursorCompleted: string[]
  cursorFrames: Map<number, CursorFrame>
}

type Entry = [id: string, facts: CommandFacts]

/** How a step, or one of its commands, ended. */
interface Ending {
  state: 'completed' | 'failed' | 'skipped'
  id: string
  at: WireTime
  error?: string
}

export function viewStep(name: string, facts: StepFacts): StepInfo {
  const current = [...facts.commands].filter(([, command]) => isAfter(orderIdOf(command), facts.enter?.id))
  current.sort(([, a], [, b]) => compareIds(orderIdOf(a), orderIdOf(b)))
  const newest = current.at(-1)?.[1]
  const expected = facts.enter?.expected ?? totalOf(current)
  const info = emptyInfo(name)
  info.attempt = newest?.started?.attempt ?? looseAttempt(facts, newest) ?? 0
  const entered = facts.enter ?? facts.entered
  if (entered !== undefined) info.enteredAt = entered.at
  if (facts.enter?.cursor === true) viewCursor(info, facts, current)
  else if (expected !== undefined) viewIterations(info, facts, current, expected)
  else viewPlain(info, facts, newest)
  return info
}

export function emptyInfo(name: string): StepInfo {
  return {
    name,
    state: 'pending',
    attempt: 0,
    pendingCallback: false,
    usesCallback: false,
    iterationCommandIds: [],
    iterationResults: [],
    iterationsDispatched: 0,
    isCursor: false,
    cursorIssued: new Map(),
    cursorCompleted: [],
    cursorFrames: new Map(),
  }
}

/** A step without iterations: its newest command decides, then what was said about the step since. */
function viewPlain(info: StepInfo, facts: StepFacts, newest: CommandFacts | undefined): void {
  const since = newest === undefined ? facts.enter?.id : orderIdOf(newest)
  const ending = (newest && commandEnding(newest)) ?? stepEnding(facts, since)
  const outcome = newest?.outcome
  info.usesCallback = outcome?.parked === true
  info.pendingCallback = info.usesCallback && ending === undefined
  if (ending === undefined) info.state = runningState(facts, newest, since)
  else setEnding(info, ending)
  if (info.state === 'skipped') return
  const loose = [facts.done, facts.exit].find((fact) => fact !== undefined && isAfter(fact.id, since))
  const result =
    newest?.done?.result ?? (outcome?.ok ? outcome.result : undefined) ?? newest?.exit?.result ?? loose?.result
  if (result !== undefined && result !== 'null') info.result = result
}

/** A loop over items: done when as many commands as expected have completed, failed when one has failed. */
function viewIterations(info: StepInfo, facts: StepFacts, current: Entry[], expected: number): void {
  const opened = facts.enter?.id
  info.iterationsExpected = expected
  info.iterationsDispatched = current.filter(([, command]) => command.issued !== undefined).length
  const endings = current.map(([id, command]) => ({ id, command, ending: commandEnding(command) }))
  const completed = endings
    .flatMap(({ id, command, ending }) => (ending?.state === 'completed' ? [{ id, command, ending }] : []))
    .sort((a, b) => compareIds(a.ending.id, b.ending.id))
  const byIndex = [...completed].sort((a, b) => (a.command.issued?.index ?? 0) - (b.command.issued?.index ?? 0))
  info.iterationCommandIds = byIndex.map(({ id }) => id)
  info.iterationResults = byIndex.map(({ command }) => iterationResult(command))
  info.usesCallback = current.some(([, command]) => command.outcome?.parked === true)
  info.pendingCallback = endings.some(({ command, ending }) => command.outcome?.parked === true && ending === undefined)

  const last = expected > 0 ? completed[expected - 1]?.ending : (completed[0]?.ending ?? exitSince(facts, opened))
  const failed = endings.flatMap(({ ending }) => (ending?.state === 'failed' ? [ending] : [])).at(-1)
  const ending = last ?? failed ?? looseFailure(facts, opened) ?? skippedSince(facts, newestId(current) ?? opened)
  if (ending === undefined) info.state = runningState(facts, current.at(-1)?.[1], opened)
  else setEnding(info, ending)
  if (last !== undefined) info.result = `[${info.iterationResults.join(',')}]`
}

/** A loop over rows that are claimed frame by frame: it ends only by its own drain marker or by a failure. */
function viewCursor(info: StepInfo, facts: StepFacts, current: Entry[]): void {
  const opened = facts.enter?.id
  info.isCursor = true
  let failed: Ending | undefined
  for (const [id, command] of current) {
    const ending = commandEnding(command)
    if (ending?.state === 'failed') failed = ending
    const place = command.issued?.cursor
    if (place === undefined) continue
    info.cursorIssued.set(id, place)
    const frame = info.cursorFrames.get(place.frame) ?? { claimCompleted: false, bodyIssued: 0, bodyCompleted: 0 }
    info.cursorFrames.set(place.frame, frame)
    const completed = ending?.state === 'completed'
    if (completed) info.cursorCompleted.push(id)
    if (place.phase === 'body') {
      frame.bodyIssued += 1
      if (completed) frame.bodyCompleted += 1
    } else if (place.phase === 'claim') {
      frame.claimCompleted ||= completed
      readClaim(frame, command.done?.result)
    }
  }
  const { drained } = facts
  const end: Ending | undefined =
    drained !== undefined && isAfter(drained.id, opened)
      ? { state: 'completed', id: drained.id, at: drained.at }
      : undefined
  const ending = end ?? failed ?? looseFailure(facts, opened)
  if (ending === undefined) info.state = runningState(facts, current.at(-1)?.[1], opened)
  else setEnding(info, ending)
  if (end !== undefined && drained?.result !== undefined) info.result = drained.result
}

/** The rows that a claim returned, from its call.done. */
export function readClaim(frame: CursorFrame, text: PayloadText | undefined): void {
  if (text === undefined) return
  const result = parseJson(text)
  const data = toolData(result)
  const rows = isJsonObject(data) ? own(data, 'rows') : undefined
  const reference = resultReference(result)
  if (Array.isArray(rows)) frame.claimRows = rows
  else if (reference !== undefined) frame.claimRef = reference
  else frame.claimRows = []
}

/** An answer by call back completes a parked command; the call.done before its completion is not one. */
function commandEnding(command: CommandFacts): Ending | undefined {
  const { outcome, exit, done } = command
  if (outcome === undefined) return exit && { state: 'completed', id: exit.id, at: exit.at }
  if (outcome.parked === true) {
    return done !== undefined && isAfter(done.id, outcome.id)
      ? { state: 'completed', id: done.id, at: done.at }
      : undefined
  }
  return endingOf(outcome)
}

function endingOf(outcome: OutcomeFact): Ending {
  const { id, at, error } = outcome
  if (outcome.ok) return { state: 'completed', id, at }
  return error === undefined ? { state: 'failed', id, at } : { state: 'failed', id, at, error }
}

/** What was said about the step itself, the latest word counting. */
function stepEnding(facts: StepFacts, since: string | undefined): Ending | undefined {
  const endings = [exitSince(facts, since), looseFailure(facts, since), skippedSince(facts, since)]
  return endings.reduce((a, b) => (a === undefined || (b !== undefined && isAfter(b.id, a.id)) ? b : a), undefined)
}

function exitSince(facts: StepFacts, since: string | undefined): Ending | undefined {
  const latest = latestOf(facts.exit, facts.drained)
  return latest !== undefined && isAfter(latest.id, since)
    ? { state: 'completed', id: latest.id, at: latest.at }
    : undefined
}

function latestOf(a: DoneFact | undefined, b: DoneFact | undefined): DoneFact | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return isAfter(a.id, b.id) ? a : b
}

function looseFailure(facts: StepFacts, since: string | undefined): Ending | undefined {
  const { failed } = facts
  return failed !== undefined && isAfter(failed.id, since) ? { ...failed, state: 'failed' } : undefined
}

function skippedSince(facts: StepFacts, since: string | undefined): Ending | undefined {
  const { skipped } = facts
  return skipped !== undefined && isAfter(skipped.id, since) ? { ...skipped, state: 'skipped' } : undefined
}

function setEnding(info: StepInfo, ending: Ending): void {
  info.state = ending.state
  info.completedAt = ending.at
  if (ending.state === 'completed') info.completedEventId = ending.id
  if (ending.state === 'skipped') info.enteredAt = ending.at
  if (ending.error !== undefined) info.error = ending.error
}

function runningState(facts: StepFacts, newest: CommandFacts | undefined, since: string | undefined): StepState {
  const looseStarted = facts.started !== undefined && isAfter(facts.started.id, since)
  const looseClaimed = facts.claimed !== undefined && isAfter(facts.claimed.id, since)
  if (looseStarted || newest?.started || newest?.done || newest?.outcome || newest?.exit) return 'command_started'
  if (looseClaimed || newest?.claimed) return 'command_claimed'
  if (newest?.issued !== undefined) return 'command_issued'
  return facts.enter !== undefined || facts.entered !== undefined ? 'entered' : 'pending'
}

function iterationResult(command: CommandFacts): PayloadText {
  return command.done?.result ?? command.outcome?.result ?? command.exit?.result ?? 'null'
}

/** Loops that were started without a step.enter tell their size on every command. */
function totalOf(current: Entry[]): number | undefined {
  let total: number | undefined
  for (const [, command] of current) {
    const told = command.issued?.total
    if (told !== undefined) total = Math.max(total ?? 0, told)
  }
  return total
}

function newestId(current: Entry[]): string | undefined {
  const newest = current.at(-1)?.[1]
  return newest === undefined ? undefined : orderIdOf(newest)
}

function looseAttempt(facts: StepFacts, newest: CommandFacts | undefined): number | undefined {
  const since = newest === undefined ? facts.enter?.id : orderIdOf(newest)
  return facts.started !== undefined && isAfter(facts.started.id, since) ? facts.started.attempt : undefined
}
