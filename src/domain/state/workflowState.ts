// What the live fold remembers of an execution: facts, not conclusions. Every fact is kept by a rule that
// does not depend on the order of arrival (the highest event id wins, the lowest wins, or a set grows), so
// any order and any repetition of the same events gives the same facts, and everything visible is derived
// from them (stepView.ts, viewState.ts). Whole events are never kept; payloads are kept as canonical text,
// which is small, hashes as it is and needs no second walk when the state is written.

import type { TerminalStatus } from '../executions/executionStatus.js'
import { type CatalogId, compareIds, type ExecutionId } from '../ids/ids.js'
import type { DrivenState } from './drivenState.js'
import type { Fact, PayloadText } from './fact.js'

/** Raise it whenever the same events would give other facts: stored states of another version are rebuilt. */
export const FOLD_VERSION = 4

export type { Fact, PayloadText } from './fact.js'

/** A step.enter of the orchestrator: it opens a visit, and everything of earlier visits is over. */
export interface EnterFact extends Fact {
  expected?: number
  cursor?: boolean
}

export interface StartedFact {
  id: string
  attempt?: number
}

export interface DoneFact extends Fact {
  result?: PayloadText
}

export interface OutcomeFact extends Fact {
  ok: boolean
  /** Completed for the worker, but the result comes by a later call back. */
  parked?: boolean
  result?: PayloadText
  error?: string
}

export interface IssuedFact {
  id: string
  cursor?: { phase: string; frame: number }
  total?: number
  /** Which item of the loop it is for. */
  index?: number
}

export interface CommandFacts {
  /** The lowest event id seen; orders commands whose command.issued is not known (yet). */
  first: string
  /** The lowest one, so that a command can only ever become older. */
  issued?: IssuedFact
  claimed?: boolean
  started?: StartedFact
  done?: DoneFact
  outcome?: OutcomeFact
  /** A step.exit that names the command; counts when there is no outcome of the command itself. */
  exit?: DoneFact
}

/** The optional facts beside `commands` come from events that name no command. */
export interface StepFacts {
  enter?: EnterFact
  /** A step.enter of a worker: it happens inside a visit and opens none. */
  entered?: Fact
  skipped?: Fact
  claimed?: Fact
  started?: Fact & StartedFact
  done?: DoneFact
  exit?: DoneFact
  drained?: DoneFact
  failed?: Fact & { error?: string }
  /** Commands of the current visit, and those whose visit is not known. */
  commands: Map<string, CommandFacts>
  /** Commands known to belong to an earlier visit; whatever else arrives about them changes nothing. */
  stale: Set<string>
}

export interface Register<T> {
  id: string
  value: T
}

export interface WorkflowState {
  readonly executionId: ExecutionId
  catalog?: Register<CatalogId>
  running: boolean
  started?: Fact
  end?: Fact & { status: TerminalStatus }
  parent?: Register<ExecutionId>
  workload?: Register<PayloadText>
  path?: Register<PayloadText>
  version?: Register<PayloadText>
  ctx: Map<string, Register<PayloadText>>
  marks: Map<string, Register<PayloadText>>
  /** One that was removed keeps its id and an empty text, so that an older value does not come back. */
  vars: Map<string, Register<PayloadText>>
  /** Of executions that something else drives, or nothing. */
  steps: Map<string, StepFacts>
  /** Of executions that the engine drives; `steps` stays empty then. */
  driven?: DrivenState
  /** About what the state occupies in memory; for the cache's bound, not part of the state. */
  bytes: number
}

export const STATE_BYTES = 600
export const STEP_BYTES = 500
export const COMMAND_BYTES = 400
export const ENTRY_BYTES = 120

export function emptyState(executionId: ExecutionId): WorkflowState {
  return {
    executionId,
    running: false,
    ctx: new Map(),
    marks: new Map(),
    vars: new Map(),
    steps: new Map(),
    bytes: STATE_BYTES,
  }
}

export function isTerminal(state: WorkflowState): boolean {
  return state.end !== undefined
}

export type WorkflowStatus = 'initial' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

const STATUS_TEXT: Readonly<Record<TerminalStatus, WorkflowStatus>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

export function workflowStatus(state: WorkflowState): WorkflowStatus {
  if (state.end !== undefined) return STATUS_TEXT[state.end.status]
  return state.running ? 'in_progress' : 'initial'
}

/** Where a command stands in the order of commands. */
export function orderIdOf(command: CommandFacts): string {
  return command.issued?.id ?? command.first
}

export function isAfter(id: string, bound: string | undefined): boolean {
  return bound === undefined || compareIds(id, bound) > 0
}

/** For good: the visit that issued it has been followed by another. */
export function isStale(step: StepFacts, command: CommandFacts): boolean {
  return step.enter !== undefined && command.issued !== undefined && compareIds(command.issued.id, step.enter.id) < 0
}

/** Keeps the fact with the highest event id; an equal id is the same event again. */
export function keepLatest<T extends object, K extends keyof T>(
  holder: T,
  key: K,
  fact: NonNullable<T[K]> & { id: string },
): boolean {
  const before = holder[key] as { id: string } | undefined
  if (!isAfter(fact.id, before?.id)) return false
  holder[key] = fact
  return true
}
