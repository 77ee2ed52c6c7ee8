// Takes one event into the facts of a driven execution. Steps and issued commands are believed only from decisions. What
// workers say about a command is believed from everybody, but it never changes what a decision has drawn from it.

import { canonicalEventType } from '../events/eventType.js'
import { canonicalJson } from '../json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { applyAnswer, placeOfCommand } from './applyAnswer.js'
import {
  type Arrival,
  type ArrivalPlace,
  arrivalKey,
  type DrivenState,
  type DrivenStep,
  type ExitFact,
  emptyVisit,
  type Visit,
  type VisitEnter,
} from './drivenState.js'
import { weighArrival, weighEnter, weighExit, weighKey, weighVisit } from './drivenWeight.js'
import { enterFact, exitFact, placesIn } from './visitFacts.js'
import { addVisit, emptyVisitSet, hasVisit } from './visitSet.js'
import { isDecided, objectAt, own, type WorkflowEvent, wholeNumberAt } from './workflowEvent.js'
import { type Fact, keepLatest, STEP_BYTES, type WorkflowState } from './workflowState.js'

const ANSWER_TYPES: ReadonlySet<string> = new Set([
  'command.claimed',
  'command.started',
  'command.completed',
  'command.failed',
  'call.done',
  'call.error',
])

/** Everything but the header and the context, which are alike for all executions. */
export function applyDriven(state: WorkflowState, driven: DrivenState, event: WorkflowEvent): boolean {
  const type = canonicalEventType(event.eventType)
  if (event.nodeName === undefined || event.nodeName === '') return false
  const fold = new DrivenFold(state, driven, event.nodeName)
  if (ANSWER_TYPES.has(type)) return fold.answer(type, event)
  if (!isDecided(event)) return false
  const fact: Fact = { id: event.eventId, at: event.createdAt }
  const number = wholeNumberAt(objectAt(event.meta), 'visit')
  switch (type) {
    case 'command.issued':
      return fold.answer(type, event)
    case 'step.enter':
      return number !== undefined && fold.enter(number, enterFact(event, fact))
    case 'step.exit':
      return number !== undefined && fold.exit(number, exitFact(event, fact), routedIn(event))
    case 'step.skipped': {
      if (number === undefined) return keepLatest(fold.step(), 'notTaken', fact)
      const from = placesIn(objectAt(event.meta)['consumed'])
      const entered = fold.enter(number, from.length === 0 ? fact : { ...fact, from })
      return fold.exit(number, { ...fact, status: 'SKIPPED' }, routedIn(event)) || entered
    }
    default:
      return false
  }
}

class DrivenFold {
  constructor(
    private readonly state: WorkflowState,
    private readonly driven: DrivenState,
    private readonly name: string,
  ) {}

  answer(type: string, event: WorkflowEvent): boolean {
    const place = placeOfCommand(event)
    if (place === undefined) return false
    const visit = this.visit(place.visit)
    return visit !== undefined && applyAnswer(this.state, visit, place.suffix, type, event)
  }

  enter(number: number, fact: VisitEnter): boolean {
    const visit = this.visit(number)
    if (visit === undefined || visit.enter !== undefined) return false
    visit.enter = fact
    this.state.bytes += weighEnter(fact)
    for (const place of fact.from ?? []) this.take(place, number)
    this.settle(number, visit)
    return true
  }

  exit(number: number, fact: ExitFact, routed: readonly JsonObject[]): boolean {
    const visit = this.visit(number)
    if (visit === undefined || visit.exit !== undefined) return false
    visit.exit = fact
    this.state.bytes += weighExit(fact)
    for (const one of routed) this.arrive(number, visit, one)
    if (fact.status === 'FAILED' && fact.handled === undefined) {
      const key = `${this.name}#${number}`
      const { id, at, error } = fact
      this.driven.failures.set(key, error === undefined ? { id, at } : { id, at, error })
      this.state.bytes += weighKey(key) + (error?.length ?? 0)
    }
    this.settle(number, visit)
    return true
  }

  step(): DrivenStep {
    let step = this.driven.steps.get(this.name)
    if (step === undefined) {
      step = { settled: emptyVisitSet(), lastSettled: 0, lastFinished: 0, visits: new Map() }
      this.driven.steps.set(this.name, step)
      this.state.bytes += STEP_BYTES + this.name.length
    }
    return step
  }

  /** Undefined: it is over, and nothing of it is wanted any more. */
  private visit(number: number): Visit | undefined {
    if (number === 0) return undefined
    const step = this.step()
    const known = step.visits.get(number)
    if (known !== undefined || hasVisit(step.settled, number)) return known
    const visit = emptyVisit()
    step.visits.set(number, visit)
    this.state.bytes += weighVisit(visit)
    return visit
  }

  private take(place: ArrivalPlace, by: number): void {
    const arrival = this.driven.steps.get(place.step)?.visits.get(place.visit)?.arrivals.get(place.arc)
    if (arrival !== undefined) {
      arrival.takenBy = by
      return
    }
    const key = arrivalKey(place)
    this.driven.taken.set(key, by)
    this.state.bytes += weighKey(key)
  }

  private arrive(number: number, visit: Visit, routed: JsonObject): void {
    const target = own(routed, 'step')
    const arc = wholeNumberAt(routed, 'arc')
    // An arc to an `end` that is not a step leads nowhere.
    if (typeof target !== 'string' || arc === undefined || own(routed, 'ends') === true) return
    if (visit.arrivals.has(arc)) return
    const arrival: Arrival = { target }
    const args = own(routed, 'args')
    if (isJsonObject(args)) arrival.args = canonicalJson(args)
    const key = arrivalKey({ step: this.name, visit: number, arc })
    const takenBy = this.driven.taken.get(key)
    if (takenBy !== undefined) {
      this.driven.taken.delete(key)
      this.state.bytes -= weighKey(key)
      const consumer = this.driven.steps.get(target)
      if (consumer !== undefined && hasVisit(consumer.settled, takenBy)) return
      arrival.takenBy = takenBy
    }
    visit.arrivals.set(arc, arrival)
    this.state.bytes += weighArrival(arrival)
  }

  /** Entered and left, in whichever order that was heard: what it consumed is released, what nobody reads is dropped. */
  private settle(number: number, visit: Visit): void {
    const { enter, exit } = visit
    if (enter === undefined || exit === undefined) return
    const step = this.step()
    addVisit(step.settled, number)
    const { lastSettled, lastFinished } = step
    step.lastSettled = Math.max(lastSettled, number)
    if (exit.status !== 'SKIPPED') step.lastFinished = Math.max(lastFinished, number)
    this.keepAnswer(visit, exit)
    for (const place of enter.from ?? []) this.release(place)
    for (const one of [lastSettled, lastFinished, number]) this.prune(step, one)
  }

  private keepAnswer(visit: Visit, { answer }: ExitFact): void {
    const before = weighVisit(visit)
    for (const { done, first, callback } of visit.commands.values()) {
      const text = [done, first, callback].find((one) => one !== undefined && one.id === answer)?.result
      if (text !== undefined) visit.answered = text
    }
    visit.commands.clear()
    visit.tally.open.clear()
    Object.assign(visit.tally, { ok: 0, failed: 0 })
    this.state.bytes += weighVisit(visit) - before
  }

  private release({ step: name, visit: number, arc }: ArrivalPlace): void {
    const step = this.driven.steps.get(name)
    const visit = step?.visits.get(number)
    const arrival = visit?.arrivals.get(arc)
    if (step === undefined || visit === undefined || arrival === undefined) return
    visit.arrivals.delete(arc)
    this.state.bytes -= weighArrival(arrival)
    this.prune(step, number)
  }

  private prune(step: DrivenStep, number: number): void {
    const visit = step.visits.get(number)
    if (visit === undefined || !hasVisit(step.settled, number) || visit.arrivals.size > 0) return
    if (number === step.lastSettled || number === step.lastFinished) return
    step.visits.delete(number)
    this.state.bytes -= weighVisit(visit)
  }
}

function routedIn(event: WorkflowEvent): JsonObject[] {
  const routed: JsonValue | undefined = objectAt(event.meta)['routed']
  return Array.isArray(routed) ? routed.filter(isJsonObject) : []
}
