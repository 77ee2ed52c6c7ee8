// What the fold remembers of an execution that the engine drives: visits of steps, their commands, and the arrivals
// between them. Facts are kept by rules that do not depend on the order of arrival, as in workflowState.ts, with one
// exception: what says that the execution is driven comes before everything that is kept here. It is the start, the first
// event of the log, or an `execution.adopted`, written while nothing had begun.
//
//   visit:   (nothing) ──step.enter──▶ live ──step.exit──▶ settled          step.skipped (by a guard): settled at once
//   arrival: step.exit names its targets ──▶ pending ──step.enter of the target──▶ taken ──that visit settles──▶ gone
//
// Of a settled visit only what somebody may still read is kept: the last one of each step, and those whose arrival is
// pending or taken by a live visit. So the memory of an execution does not grow with the number of its visits.

import { type WireTime, wireTimeToMicros } from '../events/wireTime.js'
import { compareIds } from '../ids/ids.js'
import type { CommandSuffix } from './commandId.js'
import type { Fact, PayloadText } from './fact.js'
import type { VisitSet } from './visitSet.js'

export interface DrivenState {
  /** `meta.engine` of the start, or of the adoption: by whose rules it is driven. */
  readonly engine: number
  readonly steps: Map<string, DrivenStep>
  /** Arrivals whose consumer was seen first: by arrival key, the visit of the consumer. */
  readonly taken: Map<string, number>
  /** Failed visits that no arc has handled, by `<step>#<visit>`. */
  readonly failures: Map<string, FailureFact>
}

export interface DrivenStep {
  /** Visits that were entered and left. */
  readonly settled: VisitSet
  /** The highest of them; 0 without one. */
  lastSettled: number
  /** The highest of them that was not skipped; 0 without one. */
  lastFinished: number
  readonly visits: Map<number, Visit>
  /** A step.skipped that is not a visit: nothing leads here any more. */
  notTaken?: Fact
}

export interface Visit {
  enter?: VisitEnter
  exit?: ExitFact
  /** Dropped when the visit settles. */
  readonly commands: Map<CommandSuffix, Command>
  /** What the call.done that `exit.answer` names has said; only when settled. */
  answered?: PayloadText
  /** What left this visit and is still needed, by the index of the arc. */
  readonly arrivals: Map<number, Arrival>
  /** Derived from the commands. */
  readonly tally: Tally
}

/** Commands that were issued, by what is known of their end. */
export interface Tally {
  readonly open: Set<CommandSuffix>
  ok: number
  failed: number
}

export interface ArrivalPlace {
  step: string
  visit: number
  arc: number
}

export interface VisitEnter extends Fact {
  /** The arrivals that it consumed. */
  from?: ArrivalPlace[]
  /** Items of a loop, their number, or where they are stored. */
  items?: PayloadText
  itemsRef?: string
  expected?: number
  maxInFlight?: number
  cursor?: { maxRows: number; rowConcurrency: number; maxAttempts: number }
  /** Entered because everything else had ended. */
  final?: true
}

export interface ExitFact extends Fact {
  status: 'COMPLETED' | 'FAILED' | 'SKIPPED'
  /** An arc, or on_error, has dealt with the failure. */
  handled?: true
  error?: PayloadText
  /** The data, when it is in no call.done. */
  result?: PayloadText
  /** Where the data is stored, when it is too large for the event. */
  reference?: PayloadText
  /** The call.done whose data counts, whatever else arrives later. */
  answer?: string
  /** What the step's own `set` wrote into its data. */
  own?: PayloadText
}

export interface Arrival {
  target: string
  args?: PayloadText
  /** The visit of the target that consumed it. */
  takenBy?: number
}

export interface Command {
  issued?: CommandIssued
  /** The highest attempt that was claimed or started. */
  attempt?: number
  claimed?: true
  started?: string
  done?: CommandAnswer
  /** The first call.done, if it is neither of the others: an exit that is heard of later may name it. */
  first?: CommandAnswer
  /** The newest call.done, if it is another one: ends a parked command. */
  callback?: CommandAnswer
  /** Why the tool failed, as call.error says it: its ending may not say it again. */
  failure?: Fact & { attempt: number; error: PayloadText }
  /** Completed for the worker, but the result comes by a later call back. */
  parked?: CommandEnding
  outcome?: CommandEnding
}

export interface CommandIssued extends Fact {
  /** Of a list loop. */
  index?: number
  cursor?: CursorPlace
  timeoutMs?: number
  /** The playbook it has started, or is about to. */
  child?: string
}

/** `open`, of a claim: bodies that were under way when it was issued. `run`, of a body: 2 and more after a failure. */
export interface CursorPlace {
  phase: 'claim' | 'body'
  frame: number
  row: number
  run: number
  open: number
}

export interface CommandAnswer extends Fact {
  /** 0 when the worker does not say. */
  attempt: number
  result?: PayloadText
  /** The envelope says error, whatever command.completed says. */
  bad?: true
}

export interface CommandEnding extends Fact {
  attempt: number
  /** False for command.failed. */
  completed: boolean
  /** Completed with the status of an error. */
  bad?: true
  error?: PayloadText
}

export interface FailureFact extends Fact {
  error?: PayloadText
}

export function emptyDrivenState(engine: number): DrivenState {
  return { engine, steps: new Map(), taken: new Map(), failures: new Map() }
}

export function emptyVisit(): Visit {
  return { commands: new Map(), arrivals: new Map(), tally: { open: new Set(), ok: 0, failed: 0 } }
}

export function arrivalKey({ step, visit, arc }: ArrivalPlace): string {
  return `${visit}/${arc}/${step}`
}

export type CommandStatus = 'unknown' | 'open' | 'ok' | 'failed'

/** `unknown`: somebody speaks of a command that was never issued. */
export function commandStatus(command: Command): CommandStatus {
  if (command.issued === undefined) return 'unknown'
  const { outcome, parked } = command
  if (outcome !== undefined && !outcome.completed) return 'failed'
  const answer = answerOf(command)
  if (answer === undefined || (outcome ?? parked) === undefined) return 'open'
  return outcome?.bad === true || answer.bad === true ? 'failed' : 'ok'
}

/** Keeps the tally of a visit when a command has changed, or is new. */
export function countCommand(tally: Tally, suffix: CommandSuffix, was: CommandStatus, is: CommandStatus): void {
  if (was === is) return
  if (was === 'open') tally.open.delete(suffix)
  else if (was !== 'unknown') tally[was] -= 1
  if (is === 'open') tally.open.add(suffix)
  else if (is !== 'unknown') tally[is] += 1
}

/** The call.done that belongs to the ending. Undefined: it has not come yet. */
export function answerOf(command: Command): CommandAnswer | undefined {
  const { outcome, parked, done } = command
  const called = parked === undefined ? undefined : calledBack(command, parked)
  if (outcome === undefined) return called
  // What the worker said before it parked the command is told from the call-back by its place.
  const answer = called ?? done
  if (answer === undefined || !isOfAttempt(answer, outcome)) return undefined
  // After a failure nothing more is said; after a completion the data may be late.
  return outcome.completed || isLater(outcome.id, answer.id) ? answer : undefined
}

function calledBack({ done, callback }: Command, parked: CommandEnding): CommandAnswer | undefined {
  return [callback, done].find((answer) => answer !== undefined && isLater(answer.id, parked.id))
}

/** The event that ended the command. */
export function endingOf(command: Command): Fact | undefined {
  const { outcome } = command
  if (outcome !== undefined && !outcome.completed) return outcome
  const answer = answerOf(command)
  if (outcome === undefined || answer === undefined) return answer
  return isLater(answer.id, outcome.id) ? answer : outcome
}

function isOfAttempt(answer: CommandAnswer, ending: CommandEnding): boolean {
  return answer.attempt === 0 || ending.attempt === 0 || answer.attempt === ending.attempt
}

function isLater(id: string, than: string): boolean {
  return compareIds(id, than) > 0
}

export function isLive(visit: Visit): boolean {
  return visit.enter !== undefined && visit.exit === undefined
}

/** Visits that were entered; the next one has the number after it. */
export function lastVisitOf(step: DrivenStep | undefined): number {
  if (step === undefined) return 0
  let last = step.lastSettled
  for (const [number, visit] of step.visits) if (visit.enter !== undefined) last = Math.max(last, number)
  return last
}

/** When the event was written, in milliseconds. */
export function millisOf(at: WireTime): number {
  return Number(wireTimeToMicros(at) / 1000n)
}
