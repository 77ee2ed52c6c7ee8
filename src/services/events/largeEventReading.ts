// Events whose body was read in a thread, as records again. In turns: a batch has thousands.
import type { WrittenEvent } from '../../domain/events/eventRecord.js'
import type { NormalisedEvent } from '../../domain/events/normaliseEvent.js'
import { createTurns } from '../../runtime/turns.js'
import { type LargeEventsOutput, SLOTS } from './inThread/largeEvents.js'

export async function toRecords({ records, text, ends }: LargeEventsOutput): Promise<NormalisedEvent[]> {
  const events: NormalisedEvent[] = []
  const turns = createTurns()
  for (const group of records) {
    for (const record of JSON.parse(group) as NormalisedEvent[]) {
      events.push({ ...record, written: writtenAt(text, ends, events.length * SLOTS) })
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
