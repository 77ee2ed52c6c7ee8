// Advances a state by events that are about to be committed. Nothing is read, saved or ended here: the log may never hold them,
// and then whoever asked drops the state.
import type { NewEvent, Orchestrator } from '../../../domain/state/orchestrator.js'
import { isTerminal } from '../../../domain/state/workflowState.js'
import type { HandedPart, TailEvent } from '../../../stores/state/tailEvent.js'
import { type Advanced, NOWHERE } from './advanced.js'
import { followingEvents } from './followingEvents.js'
import type { KnownValues } from './knownValues.js'
import { type Asked, questionOf } from './question.js'
import type { Resident } from './resident.js'

export interface AheadRequest extends Asked {
  handed: readonly HandedPart[]
}

/** Undefined: the events do not continue the state, or cannot be taken without a look into the log. */
export function goAhead(
  resident: Resident,
  request: AheadRequest,
  { orchestrator, values }: { orchestrator: Orchestrator; values: KnownValues },
  take: (resident: Resident, row: TailEvent, newEvents: NewEvent[]) => void,
): Advanced | undefined {
  const { live, mark, engine } = resident
  // A state with secrets is decided by its opened form, which is made from the log.
  if (!resident.driven || resident.hasSealed !== false || isTerminal(live.state)) return undefined
  const events = followingEvents(request.executionId, { version: live.version, mark }, request.handed)
  if (events === undefined || events.some(({ sealed }) => sealed !== undefined)) return undefined
  const newEvents: NewEvent[] = []
  for (const event of events) take(resident, event, newEvents)
  const isDriven = orchestrator.drives?.(engine) ?? true
  const answer = { ...NOWHERE, version: live.version, applied: events.length, bytes: live.state.bytes, isDriven }
  if (isTerminal(live.state)) return { ...answer, resident: true, terminal: true }
  if (!isDriven) return { ...answer, resident: true }
  const verdict = orchestrator.decide(questionOf({ live, engine }, request, newEvents, values))
  return { ...answer, resident: true, verdict }
}
