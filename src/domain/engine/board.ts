// The execution as one decision sees it: the state, and on top of it what the decision has already done. The state itself
// is never touched; the board is thrown away when the decision is made.

import { type WireTime, wireTimeFromMillis } from '../events/wireTime.js'
import { compareIds } from '../ids/ids.js'
import { inOrderOf } from '../json/inOrderOf.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { Plan, StepPlan } from '../playbook/plan.js'
import { renderWorkload } from '../playbook/workload.js'
import type { DrivenState, DrivenStep, Visit } from '../state/drivenState.js'
import { isLive, lastVisitOf, millisOf } from '../state/drivenState.js'
import type { EmittedEvent, FetchedValues, NewCommand } from '../state/orchestrator.js'
import type { Register, WorkflowState } from '../state/workflowState.js'
import { memoByFact } from './answer.js'
import { MissingValues, messageOf } from './engineError.js'
import { placed } from './placed.js'
import type { EngineSettings } from './settings.js'
import { startRoot } from './startRoots.js'
import { type VisitData, visitDataOf } from './visitData.js'

/** A visit that was entered and not left. */
export interface LiveVisit {
  readonly step: StepPlan
  readonly number: number
  /** Its facts; of a visit that this decision has entered, only the entering. */
  readonly visit: Visit
  readonly arrivals: readonly ArrivalOnBoard[]
  readonly isFinal: boolean
}

/** A step was routed to and not yet entered by it; or, of a live visit, what it was entered by. */
export interface ArrivalOnBoard {
  readonly source: number
  readonly visit: number
  readonly arc: number
  readonly target: number
  readonly args: JsonObject | undefined
  /** What the source left behind. */
  readonly data: VisitData
}

export interface Failure {
  readonly step: string
  readonly visit: number
  readonly error: JsonObject
}

export interface BoardInput {
  readonly plan: Plan
  readonly state: WorkflowState
  readonly driven: DrivenState
  readonly settings: EngineSettings
  readonly nowMs: number
  /** Meta of the start event. */
  readonly startMeta: JsonObject
  readonly fetched: FetchedValues
}

export class Board {
  readonly plan: Plan
  readonly executionId: string
  readonly now: WireTime
  readonly events: EmittedEvent[] = []
  readonly commands: NewCommand[] = []
  readonly live = new Map<number, LiveVisit>()
  /** In the order in which they arrived. */
  arrivals: ArrivalOnBoard[] = []
  readonly failures: Failure[] = []
  quickVisitsLeft: number
  private readonly lastVisits = new Map<number, number>()
  private readonly finished = new Map<number, VisitData>()
  /** In the order in which they were left here. */
  private newest: { step: number; data: VisitData } | undefined
  private readonly skipped = new Set<number>()
  private readonly notTaken = new Set<number>()
  private ctxValues: JsonObject | undefined
  private varsValues: JsonObject | undefined
  private ctxRootValue: JsonObject | undefined
  private workloadDefaults: JsonObject | undefined

  constructor(
    readonly input: BoardInput,
    quickVisits: number,
  ) {
    const { plan, state, driven } = input
    this.plan = plan
    this.executionId = state.executionId
    this.now = wireTimeFromMillis(input.nowMs)
    this.quickVisitsLeft = quickVisits
    for (const [name, step] of driven.steps) this.place(name, step)
    this.arrivals.sort((a, b) => compareIds(this.exitIdOf(a), this.exitIdOf(b)) || a.arc - b.arc)
    const failures = [...driven.failures].sort(([, a], [, b]) => compareIds(a.id, b.id))
    for (const [key, { error }] of failures) {
      const at = key.lastIndexOf('#')
      const parsed = error === undefined ? undefined : parseJson(error)
      const failure = { step: key.slice(0, at), visit: Number(key.slice(at + 1)) }
      this.failures.push({ ...failure, error: isJsonObject(parsed) ? parsed : {} })
    }
  }

  private place(name: string, step: DrivenStep): void {
    for (const [number, visit] of step.visits) {
      // Somebody may speak of commands that were never issued.
      if (visit.enter === undefined) continue
      const index = this.indexOf(name)
      if (isLive(visit)) this.live.set(index, this.liveVisit(index, number, visit))
      for (const [arc, { target, takenBy }] of visit.arrivals) {
        if (takenBy === undefined) this.arrivals.push(this.arrivalFrom(index, number, arc, this.indexOf(target), visit))
      }
    }
  }

  private liveVisit(index: number, number: number, visit: Visit): LiveVisit {
    const arrivals = (visit.enter?.from ?? []).map((place) => {
      const source = this.indexOf(place.step)
      const from = this.input.driven.steps.get(place.step)?.visits.get(place.visit)
      if (from === undefined) throw new Error(`visit ${place.visit} of step "${place.step}" is not known`)
      return this.arrivalFrom(source, place.visit, place.arc, index, from)
    })
    return { step: this.stepAt(index), number, visit, arrivals, isFinal: visit.enter?.final === true }
  }

  private arrivalFrom(source: number, number: number, arc: number, target: number, visit: Visit): ArrivalOnBoard {
    const text = visit.arrivals.get(arc)?.args
    const args = text === undefined ? undefined : (parseJson(text) as JsonObject)
    return { source, visit: number, arc, target, args, data: visitDataOf(number, visit) }
  }

  private exitIdOf({ source, visit }: ArrivalOnBoard): string {
    return this.input.driven.steps.get(this.stepAt(source).name)?.visits.get(visit)?.exit?.id ?? ''
  }

  // --- steps --------------------------------------------------------------------------------------------------------

  stepAt(index: number): StepPlan {
    return this.plan.steps[index] as StepPlan
  }

  private indexOf(name: string): number {
    const index = this.plan.stepIndex.get(name)
    if (index === undefined) throw new Error(`the playbook has no step "${name}", but the log does`)
    return index
  }

  private factsOf(index: number): DrivenStep | undefined {
    return this.input.driven.steps.get(this.stepAt(index).name)
  }

  get hasBegun(): boolean {
    return this.lastVisits.size > 0 || [...this.input.driven.steps.values()].some((step) => lastVisitOf(step) > 0)
  }

  /** How often it was entered, or skipped by its guard. */
  visitCount(index: number): number {
    return this.lastVisits.get(index) ?? lastVisitOf(this.factsOf(index))
  }

  enter(live: LiveVisit): void {
    this.live.set(live.step.index, live)
    this.lastVisits.set(live.step.index, live.number)
  }

  leave(live: LiveVisit, data: VisitData): void {
    const { index } = live.step
    this.live.delete(index)
    if (data.status === 'skipped') {
      this.skipped.add(index)
      return
    }
    this.skipped.delete(index)
    this.finished.set(index, data)
    this.newest = { step: index, data }
  }

  /** Of the last visit that was not skipped. */
  lastFinished(index: number): VisitData | undefined {
    const here = this.finished.get(index)
    if (here !== undefined) return here
    const facts = this.factsOf(index)
    const visit = facts?.visits.get(facts.lastFinished)
    return facts === undefined || visit === undefined ? undefined : visitDataOf(facts.lastFinished, visit)
  }

  /** Its latest visit was a skip. */
  wasSkipped(index: number): boolean {
    if (this.lastVisits.has(index)) return this.skipped.has(index)
    const facts = this.factsOf(index)
    return facts !== undefined && facts.lastSettled > facts.lastFinished
  }

  /** The step whose visit ended last of all. */
  newestFinished(): { step: number; data: VisitData } | undefined {
    if (this.newest !== undefined) return this.newest
    let found: { step: number; data: VisitData; id: string } | undefined
    for (const [name, facts] of this.input.driven.steps) {
      const visit = facts.visits.get(facts.lastFinished)
      const id = visit?.exit?.id
      if (visit === undefined || id === undefined) continue
      if (found === undefined || compareIds(id, found.id) > 0) {
        found = { step: this.indexOf(name), data: visitDataOf(facts.lastFinished, visit), id }
      }
    }
    return found
  }

  isNotTaken(index: number): boolean {
    return this.notTaken.has(index) || this.factsOf(index)?.notTaken !== undefined
  }

  markNotTaken(index: number): void {
    this.notTaken.add(index)
  }

  // --- failures -----------------------------------------------------------------------------------------------------

  /** Nothing new is entered or issued any more, but for the final step. */
  get isStopped(): boolean {
    return this.failures.some(({ step }) => this.stepAt(this.indexOf(step)).failureMode === 'fail_fast')
  }

  /** Further commands of a visit; those of the final step are issued whatever has failed. */
  mayIssue({ isFinal }: LiveVisit): boolean {
    return isFinal || !this.isStopped
  }

  /** Arcs of a visit; those of the final step lead nowhere. */
  mayRoute({ isFinal }: LiveVisit): boolean {
    return !isFinal && !this.isStopped
  }

  failureText(): string {
    const [first] = this.failures
    if (first === undefined) return 'unknown error'
    const message = messageOf(first.error)
    return first.error['source'] === 'next' ? message : `step "${first.step}": ${message}`
  }

  // --- values -------------------------------------------------------------------------------------------------------

  /** With the defaults of the playbook rendered, each time to the same: they read only what never changes. */
  get workload(): JsonObject {
    const register = this.input.state.workload
    if (register !== undefined) return workloadIn(register)(this.input)
    // The start of one that was adopted may name none.
    this.workloadDefaults ??= renderedWorkload(this.input.plan.workload, this.input)
    return this.workloadDefaults
  }

  get ctx(): JsonObject {
    this.ctxValues ??= valuesOf(this.input.state.ctx)
    return this.ctxValues
  }

  get vars(): JsonObject {
    this.varsValues ??= valuesOf(this.input.state.vars)
    return this.varsValues
  }

  /** `ctx` as templates see it: keys of the workload are below it. */
  get ctxRoot(): JsonObject {
    this.ctxRootValue ??= { ...this.workload, ...this.ctx }
    return this.ctxRootValue
  }

  write(ctx: JsonObject, vars: JsonObject): void {
    this.ctxValues = { ...this.ctx, ...ctx }
    this.varsValues = { ...this.vars, ...vars }
    this.ctxRootValue = undefined
  }

  /** What is stored under a reference. Undefined: it is gone for good. */
  fetched(ref: string): JsonValue | undefined {
    const { fetched } = this.input
    if (!fetched.has(ref)) throw new MissingValues([ref])
    return fetched.get(ref)
  }
}

/** An execution has one plan, so one order and one outcome. */
const workloadIn = memoByFact((register: Register<string>) => {
  let workload: JsonObject | undefined
  return (input: BoardInput): JsonObject => {
    workload ??= renderedWorkload(inOrderOf(parseJson(register.value), input.plan.workload), input)
    return workload
  }
})

function renderedWorkload(merged: JsonValue, input: BoardInput): JsonObject {
  if (!isJsonObject(merged)) return {}
  const { started } = input.state
  return renderWorkload(merged, input.plan.workloadDefaults, {
    root: (name) => startRoot(input, name),
    nowMs: started === undefined ? input.nowMs : millisOf(started.at),
    placed,
  })
}

const parsed = memoByFact((register: Register<string>): JsonValue => parseJson(register.value))

function valuesOf(registers: ReadonlyMap<string, Register<string>>): JsonObject {
  const values: JsonObject = {}
  for (const key of [...registers.keys()].sort()) {
    const register = registers.get(key) as Register<string>
    if (register.value !== '') setKey(values, key, parsed(register))
  }
  return values
}
