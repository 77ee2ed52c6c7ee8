// About what the facts of a driven execution occupy in memory. The sum over a state read from its text equals the one
// that grew event by event.

import type { Arrival, Command, DrivenState, ExitFact, Visit, VisitEnter } from './drivenState.js'
import { COMMAND_BYTES, ENTRY_BYTES, STEP_BYTES } from './workflowState.js'

const VISIT_BYTES = 300

export function weighDriven(driven: DrivenState): number {
  let bytes = 0
  for (const [name, step] of driven.steps) {
    bytes += STEP_BYTES + name.length
    for (const visit of step.visits.values()) bytes += weighVisit(visit)
  }
  for (const key of driven.taken.keys()) bytes += weighKey(key)
  for (const [key, { error }] of driven.failures) bytes += weighKey(key) + (error?.length ?? 0)
  return bytes
}

export function weighVisit(visit: Visit): number {
  let bytes = VISIT_BYTES + (visit.answered?.length ?? 0)
  if (visit.enter !== undefined) bytes += weighEnter(visit.enter)
  if (visit.exit !== undefined) bytes += weighExit(visit.exit)
  for (const arrival of visit.arrivals.values()) bytes += weighArrival(arrival)
  for (const command of visit.commands.values()) bytes += weighCommand(command)
  return bytes
}

export function weighEnter({ from, items, itemsRef }: VisitEnter): number {
  return (from?.length ?? 0) * ENTRY_BYTES + (items?.length ?? 0) + (itemsRef?.length ?? 0)
}

export function weighExit({ error, result, reference, own }: ExitFact): number {
  return (error?.length ?? 0) + (result?.length ?? 0) + (reference?.length ?? 0) + (own?.length ?? 0)
}

export function weighArrival({ target, args }: Arrival): number {
  return weighKey(target) + (args?.length ?? 0)
}

export function weighCommand({ done, first, callback, failure, parked, outcome }: Command): number {
  return (
    COMMAND_BYTES +
    (done?.result?.length ?? 0) +
    (first?.result?.length ?? 0) +
    (callback?.result?.length ?? 0) +
    (failure?.error.length ?? 0) +
    (parked?.error?.length ?? 0) +
    (outcome?.error?.length ?? 0)
  )
}

export function weighKey(key: string): number {
  return ENTRY_BYTES + key.length
}
