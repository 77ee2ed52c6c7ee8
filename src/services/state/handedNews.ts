// What executions have grown by, on its way to the threads that hold their states: whoever has just appended an event need not
// let it be read from the log. Only a shorter way: events that are missing here, or do not follow what a state contains, are
// read from the log as ever.
import { isRespelled } from '../../domain/json/respelled.js'
import { PassingMap } from '../../runtime/passingMap.js'
import type { HandedEvent, HandedPart } from '../../stores/state/tailEvent.js'
import type { LogNews } from '../events/logNews.js'

export interface HandedNews {
  add(news: LogNews): void
  has(executionId: string): boolean
  /** In the order in which they came; undefined: not all of them are known. */
  take(executionId: string): HandedPart[] | undefined
}

// Of one execution. What is larger is read by its thread, a page at a time.
const EVENTS_MAX = 2_000
const CHARACTERS_MAX = 4_000_000

export function createHandedNews(): HandedNews {
  const waiting = new PassingMap<string, Waiting>()

  return {
    add: ({ executionId, afterVersion, mark, rows }) => {
      const known = waiting.get(executionId) ?? { parts: [], events: 0, characters: 0 }
      waiting.set(executionId, known)
      if (known.parts === undefined) return
      known.events += rows.length
      for (const { parts } of rows) {
        known.characters += (parts.context?.length ?? 0) + (parts.result?.length ?? 0) + (parts.meta?.length ?? 0)
      }
      const isTooMuch = known.events > EVENTS_MAX || known.characters > CHARACTERS_MAX
      const events = isTooMuch ? undefined : handedEventsOf(rows)
      if (events === undefined) known.parts = undefined
      else known.parts.push({ afterVersion, mark, events })
    },
    has: (executionId) => waiting.has(executionId),
    take: (executionId) => {
      const parts = waiting.get(executionId)?.parts
      waiting.delete(executionId)
      return parts
    },
  }
}

interface Waiting {
  /** Undefined: they must be read. */
  parts: HandedPart[] | undefined
  events: number
  characters: number
}

/** Undefined: one of them reads differently in the log. */
export function handedEventsOf(rows: LogNews['rows']): HandedEvent[] | undefined {
  const events: HandedEvent[] = []
  for (const { event, parts, catalogId, streamVersion, sealed } of rows) {
    const { context = '', result = '', meta = '' } = parts
    if (isRespelled(context) || isRespelled(result) || isRespelled(meta)) return undefined
    events.push([
      [
        Number(streamVersion),
        event.eventId,
        catalogId,
        event.parentExecutionId ?? null,
        event.eventType,
        event.nodeName ?? null,
        event.workerId ?? null,
        event.error ?? null,
        event.createdAt,
        sealed,
      ],
      context,
      result,
      meta,
    ])
  }
  return events
}
