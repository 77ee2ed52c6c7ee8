// The seam for whoever decides what an execution does next. It is asked where the state lives, in the thread that
// holds it, so that no state is ever copied to be decided upon; what it answers is small and plain. It is asked
// again after a restart, a takeover or a rebuild, so it must decide from the state, and name each decision by a key
// that the same state gives again: a key is written once per execution, and a second decision with it is dropped.

import type { JsonObject, JsonValue } from '../json/value.js'
import type { OpenWork } from './openWork.js'
import type { WorkflowState } from './workflowState.js'

/** Enough to tell what happened without the payloads, which are in the state. */
export interface NewEvent {
  eventId: string
  eventType: string
  nodeName: string | undefined
}

export interface DecisionInput {
  executionId: string
  /** How many events of the log the state contains. */
  version: number
  /** To look at, not to change. */
  state: WorkflowState
  /** What came since the last question; empty after a rebuild, at most the newest thousand. */
  newEvents: readonly NewEvent[]
  /** The time of the decision and of all its events. */
  nowMs: number
  /** The version of the engine that the execution was started for; undefined: it is not to be decided for. */
  engine: number | undefined
  /** Meta of the start event. */
  startMeta: JsonObject
  fetched: FetchedValues
}

/** What earlier answers needed, by reference; undefined inside: it can never be had. */
export type FetchedValues = Pick<ReadonlyMap<string, JsonValue | undefined>, 'has' | 'get'>

/** Part of an event that is too large for the log: whoever writes the event stores it, and says in the event where it is. */
export interface LargePart {
  /** The items of a loop, in the context; or the data of the result. */
  at: 'items' | 'data'
  /** JSON. */
  text: string
  /** Small parts of the data, to be read without fetching it. */
  extracted?: JsonObject
}

/** An event to be appended; ids, time and tenant are filled in by the writer. */
export interface EmittedEvent {
  eventType: string
  nodeName?: string
  nodeType?: string
  status?: string
  context?: JsonValue
  result?: JsonValue
  meta?: JsonValue
  error?: string
  large?: LargePart
}

/** The row of a command that the decision issues. */
export interface NewCommand {
  /** Place of its command.issued among the events of the decision. */
  event: number
  /** Unique per execution, and the same whenever the same command is issued again. */
  key: string
  step: string
  kind: string
  pool: string
  /** When the engine gives it up; absent without a time-out. */
  deadlineMs?: number
  maxAttempts: number
  /** `playbook`: the row waits for a child; nobody can claim it. */
  waitsFor: 'worker' | 'playbook'
  index?: number
  /** Higher comes first; default 0. */
  priority?: number
}

export interface Decision {
  /** Unique per decision of an execution, and the same whenever the same decision is made again. */
  key: string
  /** Appended together in one transaction, or not at all. */
  events: readonly EmittedEvent[]
  /** Written in the same transaction. */
  commands?: readonly NewCommand[]
  /** The time of its events; absent: when they are written. */
  atMs?: number
  /** Ask again after this time even if nothing happens. */
  checkAfterMs?: number
  /** It was cut at the largest size of a decision: what comes next follows from its own events, and waits for nobody. */
  goesOn?: true
}

/** Nothing to decide yet. */
export interface Waiting {
  /** Ask again after this time even if nothing happens. */
  checkAfterMs: number
}

/** The decision depends on values that are stored elsewhere. */
export interface Needing {
  needs: readonly string[]
}

export type Verdict = Decision | Waiting | Needing

export interface Orchestrator {
  /** Whether it ever decides for executions of this version of the engine; absent: for all. */
  drives?(engine: number | undefined): boolean
  /** Undefined: nothing to do until something happens. Must be quick and must not wait. */
  decide(input: DecisionInput): Verdict | undefined
  /** What the execution waits for, for people. Undefined: the orchestrator does not know it. */
  explain?(input: DecisionInput): OpenWork[] | Needing | undefined
}

/** For threads that only look. */
export const nothingToDo: Orchestrator = { drives: () => false, decide: () => undefined }
