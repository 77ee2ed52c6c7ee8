// Events whose body was read in a thread, as records again. In turns: a batch has thousands.
import type { WrittenEvent } from '../../domain/events/eventRecord.js'
import type { NormalisedEvent } from '../../domain/events/normaliseEvent.js'
import type { EventId } from '../../domain/ids/ids.js'
import { createTurns } from '../../runtime/turns.js'
import { type LargeEventsOutput, SLOTS } from './inThread/largeEvents.js'
import { type PackedEvent, unpackEvent } from './inThread/packedEvent.js'

/** `mint`: a thread mints no ids. */
export async function toRecords(
  { records, text, ends }: LargeEventsOutput,
  mint: () => EventId,
): Promise<NormalisedEvent[]> {
  const events: NormalisedEvent[] = []
  const turns = createTurns()
  for (const group of records) {
    for (const fields of JSON.parse(group) as PackedEvent[]) {
      const event = unpackEvent(fields, writtenAt(text, ends, events.length * SLOTS))
      if (!event.eventIdGiven) event.eventId = mint()
      events.push(event)
    }
    await turns.rest()
  }
  return events
}

function writtenAt(text: string, ends: Float64Array, first: number): WrittenEvent {
  const slot = (index: number): string | undefined => {
    const start = ends[first + index - 1] ?? 0
    const end = ends[first + index]!
    return end > start ? text.slice(start, end) : undefined
  }
  return {
    parts: { context: slot(0), result: slot(1), meta: slot(2) },
    checked: { context: slot(3), result: slot(4), meta: slot(5) },
    hidden: slot(6),
  }
}
