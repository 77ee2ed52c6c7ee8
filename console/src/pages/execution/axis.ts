// From the place of an event to a place on the screen and back: one event, one step; or by the clock. And the part of the
// axis that the timeline shows.
import { signal } from '@preact/signals'
import { ask, query } from '../../lib/router'
import { countedOf } from './counts'
import type { RunTape } from './tape'

/** Each event one step; by the clock; by the clock with pauses shortened, in which nothing was at work. */
const AXES = ['event', 'time', 'work'] as const
export type AxisKind = (typeof AXES)[number]

export interface Axis {
  kind: AxisKind
  /** 0 to 1 by position, never falling. */
  fractions: Float64Array
  /** A bar begins so many events before its own: by event it has the whole step of it, by the clock it begins when that happened. */
  lead: 0 | 1
  /** From the first event to the last. */
  spanMs: number
}

export function chosenAxis(): AxisKind {
  return AXES.find((one) => one === query.value.get('axis')) ?? 'event'
}

/** After the one of the address: keys come faster than the page is drawn. */
export function showNextAxis(): void {
  const next = AXES[(AXES.indexOf(chosenAxis()) + 1) % AXES.length]
  ask({ axis: next === 'event' ? undefined : next }, { replace: true })
}

/** A pause is as long as this part of the work. */
const PAUSE_SHARE = 1 / 40

export function axisOf(kind: AxisKind, run: RunTape): Axis {
  const { tape, length } = run
  const times = tape.columns['time']!
  // The log is in the order of ids: clocks may disagree with it.
  const clock = new Float64Array(length + 1)
  for (let position = 1; position <= length; position++) {
    clock[position] = Math.max(times[position - 1]! - times[0]!, clock[position - 1]!)
  }
  const spanMs = clock[length]!
  const places = kind === 'work' ? withoutPauses(clock, atWork(run)) : clock
  const last = Math.max(1, places[length]!)
  const fractions = places.map((place, position) => (kind === 'event' ? position / Math.max(1, length) : place / last))
  return { kind, fractions, lead: kind === 'event' ? 1 : 0, spanMs }
}

/** By position how many commands somebody has then; of a run without commands, steps. */
function atWork(run: RunTape): Int32Array {
  const { begin, end } = countedOf(run).changes.running
  const counts = new Int32Array(run.length + 2)
  for (const position of begin) counts[position]! += 1
  for (const position of end) counts[Math.min(position, run.length + 1)]! -= 1
  for (let position = 1; position <= run.length; position++) counts[position]! += counts[position - 1]!
  return counts
}

function withoutPauses(clock: Float64Array, working: Int32Array): Float64Array {
  const isPause = (position: number): boolean => working[position - 1] === 0
  let workMs = 0
  for (let position = 2; position < clock.length; position++) {
    if (!isPause(position)) workMs += clock[position]! - clock[position - 1]!
  }
  const pauseMs = Math.max(1, workMs * PAUSE_SHARE)
  const places = new Float64Array(clock.length)
  for (let position = 2; position < clock.length; position++) {
    const ms = clock[position]! - clock[position - 1]!
    places[position] = places[position - 1]! + (isPause(position) ? Math.min(ms, pauseMs) : ms)
  }
  return places
}

/** The last position that is not behind this place. */
export function positionOf({ kind, fractions }: Axis, fraction: number): number {
  const total = fractions.length - 1
  if (kind === 'event') return Math.max(0, Math.min(total, Math.round(fraction * total)))
  let low = 0
  let high = total
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fractions[middle]! <= fraction) low = middle
    else high = middle - 1
  }
  return low
}

export interface View {
  from: number
  to: number
}

const WHOLE: View = { from: 0, to: 1 }
const NARROWEST = 1e-5

export const view = signal<View>(WHOLE)

/** As the address has it: `0.25..0.5`; undefined for all of it. */
export function viewText({ from, to }: View): string | undefined {
  const text = (place: number): string => place.toFixed(7).replace(/\.?0+$/, '')
  return from === 0 && to === 1 ? undefined : `${text(from)}..${text(to)}`
}

export function viewOf(text: string | null): View {
  const [, from, to] = /^(\d(?:\.\d+)?)\.\.(\d(?:\.\d+)?)$/.exec(text ?? '') ?? []
  const found = { from: Number(from), to: Number(to) }
  return found.from < found.to && found.to <= 1 ? found : WHOLE
}

export function showAll(): void {
  view.value = WHOLE
}

/** Below 1 is nearer; what is at `around` stays where it is. */
export function zoomBy(factor: number, around: number): void {
  const { from, to } = view.value
  const wide = Math.min(1, Math.max(NARROWEST, (to - from) * factor))
  const left = around - ((around - from) / (to - from)) * wide
  place(left, wide)
}

/** By so many screens. */
export function panBy(screens: number): void {
  const { from, to } = view.value
  place(from + (to - from) * screens, to - from)
}

/** Moves what is shown to where the handle is. */
export function keepInView(fraction: number): void {
  const { from, to } = view.value
  if (fraction < from || fraction > to) place(fraction - (to - from) / 2, to - from)
}

function place(left: number, wide: number): void {
  const from = Math.max(0, Math.min(1 - wide, left))
  view.value = wide >= 1 ? WHOLE : { from, to: from + wide }
}
