// Continues a state by what was handed over instead of read. It must fit exactly: numbers without a gap, behind the very event
// that the state ends with (a failover may lose commits, and others may have taken their numbers since).
import type { ExecutionId } from '../../../domain/ids/ids.js'
import { type HandedPart, readHanded, type TailEvent } from '../../../stores/state/tailEvent.js'

/** Of what was handed over, the events that the state does not contain. Undefined: there is a gap, or it is another log. */
export function followingEvents(
  executionId: string,
  { version: known, mark }: { version: number; mark: string | undefined },
  handed: readonly HandedPart[] | undefined,
): TailEvent[] | undefined {
  if (handed === undefined) return undefined
  const events: TailEvent[] = []
  let at = known
  let last = mark
  for (const part of [...handed].sort((a, b) => a.afterVersion - b.afterVersion)) {
    if (part.afterVersion > at || (part.afterVersion === at && part.mark !== last)) return undefined
    for (const one of part.events) {
      const [[version, eventId]] = one
      if (version === at && eventId !== last) return undefined
      if (version <= at) continue
      events.push(readHanded(executionId as ExecutionId, one))
      at = version
      last = eventId
    }
  }
  return events
}
