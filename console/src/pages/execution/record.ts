// The log of a run as the screen draws it: one entry per event in the order of the fold, and per step the stretches in which
// it was at work. A stretch begins when the first visit or command of a step opens and ends when the last one closes, so
// nothing has to be guessed about which end belongs to which beginning.
import type { StatusKind } from '../../parts/Status'
import type { WindowEvent } from './EventsTab'

export interface Moment {
  eventId: string
  version: string | null
  type: string
  step: string | null
  status: string | null
  at: number
  isFailure: boolean
  /** It was stored after events with higher ids. */
  isLate: boolean
}

/** Positions count from 1; `to` 0 is not over. */
export interface Stretch {
  row: number
  from: number
  to: number
  outcome: StatusKind
}

export interface RunRecord {
  moments: readonly Moment[]
  rows: readonly string[]
  stretches: readonly Stretch[]
}

const OPENS = /^(step\.enter|step\.started|command\.issued)$/
const CLOSES = /^(step\.(exit|completed|failed|skipped)|(command|action)\.(completed|failed|cancelled))$/

interface OpenRow {
  count: number
  stretch: Stretch | undefined
}

export function recordOf(events: readonly WindowEvent[]): RunRecord {
  const moments: Moment[] = []
  const rows: string[] = []
  const stretches: Stretch[] = []
  const open = new Map<string, OpenRow & { row: number }>()
  events.forEach((event, index) => {
    const type = event.event_type.replace('_', '.')
    const isFailure = /\bfailed$|\berror$/.test(type) || /^(failed|error)$/i.test(event.status ?? '')
    moments.push({
      eventId: event.event_id,
      version: event.stream_version,
      type: event.event_type,
      step: event.node_name,
      status: event.status,
      at: Date.parse(event.timestamp),
      isFailure,
      isLate: false,
    })
    const step = event.node_name
    if (step === null || !(OPENS.test(type) || CLOSES.test(type))) return
    let row = open.get(step)
    if (row === undefined) {
      row = { row: rows.push(step) - 1, count: 0, stretch: undefined }
      open.set(step, row)
    }
    if (OPENS.test(type)) {
      row.count += 1
      if (row.stretch === undefined) {
        row.stretch = { row: row.row, from: index + 1, to: 0, outcome: 'running' }
        stretches.push(row.stretch)
      }
      return
    }
    if (row.stretch === undefined) return
    row.count -= 1
    if (isFailure) row.stretch.outcome = 'failed'
    else if (type.endsWith('cancelled') && row.stretch.outcome !== 'failed') row.stretch.outcome = 'cancelled'
    if (row.count > 0) return
    row.stretch.to = index + 1
    if (row.stretch.outcome === 'running') row.stretch.outcome = 'completed'
    row.stretch = undefined
  })
  markLate(moments)
  return { moments, rows, stretches }
}

/** An event that came after one with a higher id has a higher number within the log than some event behind it. */
function markLate(moments: readonly Moment[]): void {
  let lowestBehind = Number.POSITIVE_INFINITY
  for (const moment of moments.toReversed()) {
    const version = Number(moment.version ?? 0)
    if (version === 0) continue
    moment.isLate = version > lowestBehind
    lowestBehind = Math.min(lowestBehind, version)
  }
}

/** How a stretch looks when so many events have happened; undefined: it has not begun. */
export function statusAt({ from, to, outcome }: Stretch, position: number): StatusKind | undefined {
  if (from > position) return undefined
  return to !== 0 && to <= position ? outcome : 'running'
}
