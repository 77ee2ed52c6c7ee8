// From the place of an event to a place on the screen and back: one event, one step; or by the clock. And the part of the
// axis that the timeline shows.
import { signal } from '@preact/signals'
import type { RunTape } from './tape'

export type AxisKind = 'event' | 'time'

export interface Axis {
  kind: AxisKind
  /** 0 to 1 by position, never falling. */
  fractions: Float64Array
  /** From the first event to the last. */
  spanMs: number
}

export function axisOf(kind: AxisKind, { tape, length }: RunTape): Axis {
  const fractions = new Float64Array(length + 1)
  const times = tape.columns['time']!
  // The log is in the order of ids: clocks may disagree with it.
  let latest = 0
  for (let position = 1; position <= length; position++) {
    latest = Math.max(latest, times[position - 1]!)
    fractions[position] = latest
  }
  const first = fractions[1] ?? 0
  const spanMs = latest - first
  for (let position = 1; position <= length; position++) {
    fractions[position] = kind === 'event' ? position / length : (fractions[position]! - first) / Math.max(1, spanMs)
  }
  return { kind, fractions, spanMs }
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
