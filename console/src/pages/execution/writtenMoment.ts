// What somebody writes to get to a moment, a position, a version, an event id or a time, and which position that is.
import { zone } from '../../lib/theme'
import { clockText, whole } from '../../lib/time'
import { askPlace } from './slices'
import type { RunTape } from './tape'

/** What was written means no moment of this log; the message says what would. */
export class NoMoment extends Error {}

const DAY_MS = 86_400_000
const CLOCK = /^(?:(\d{4}-\d\d-\d\d)[ T])?(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Ids of events are longer than any position. */
const EVENT_ID = /^(?:event[: ]\s*(\d+)|(\d{12,}))$/i
const VERSION = /^v(?:ersion)?[: ]?\s*(\d+)$/i

/** `event:380…` or the id alone; `v12`; `48,112`; `12:30:05.250` on the day of the run; `2026-11-17 12:30`, with Z or an offset, too; `+90s` after its first event. */
export async function positionWritten(written: string, run: RunTape): Promise<number> {
  const text = written.trim()
  const [, named, bare] = EVENT_ID.exec(text) ?? []
  const eventId = named ?? bare
  if (eventId !== undefined) return positionOfEvent(eventId, run)
  const version = VERSION.exec(text)?.[1]
  if (version !== undefined) return (await askPlace(run.tape.head.execution_id, { version })).position
  if (/^\d[\d,]*$/.test(text)) return positionWithin(Number(text.replaceAll(',', '')), run)
  const times = Float64Array.from(run.tape.columns['time']!.subarray(0, run.length))
  if (times.length === 0) throw new NoMoment('This log has no events yet.')
  const base = run.tape.head.base_ms
  const first = base + times[0]!
  const at = timeWritten(text, first)
  if (Number.isNaN(at)) {
    throw new NoMoment(
      `“${text}” is no position (12), version (v12), event id or time (${clockText(first).slice(11)}, +1.5s).`,
    )
  }
  const last = base + times.reduce((latest, time) => Math.max(latest, time))
  if (at < first || at > last) {
    throw new NoMoment(`This log goes from ${clockText(first, 3)} to ${clockText(last, 3)}.`)
  }
  // The log is in the order of ids: clocks may disagree with it.
  return times.findLastIndex((time) => base + time <= at) + 1
}

async function positionOfEvent(eventId: string, { tape }: RunTape): Promise<number> {
  const found = await askPlace(tape.head.execution_id, { event: eventId })
  if (found.eventId === eventId) return found.position
  throw new NoMoment(`Event ${eventId} is not in this log.`)
}

function positionWithin(position: number, { length }: RunTape): number {
  if (position > length) throw new NoMoment(`This log has positions from 0 to ${whole(length)}.`)
  return position
}

/** Milliseconds since 1970; NaN for no time. */
function timeWritten(text: string, first: number): number {
  const after = /^\+\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(text)
  if (after !== null) return first + Number(after[1]) * UNIT_MS[after[2]!]!
  const [, date, clock, offset] = CLOCK.exec(text) ?? []
  if (clock === undefined) return Number.NaN
  const zoneText = offset ?? (zone.value === 'utc' ? 'Z' : '')
  const at = Date.parse(`${date ?? clockText(first).slice(0, 10)}T${clock}${zoneText}`)
  // A run that goes on after midnight.
  return date === undefined && at < first ? at + DAY_MS : at
}
