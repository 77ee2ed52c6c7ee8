// What the timeline below shows, from its left edge to its right: round numbers, each where it belongs, none twice.
import { whole } from '../../lib/time'
import { type Axis, view } from './axis'
import type { RunTape } from './tape'

const LABELS_MAX = 6
/** A label nearer to an edge is written inside of it. */
const EDGE = 0.04
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Clocks do not count in tens. */
const ROUND_MS = [10, 15, 30]
  .map((seconds) => seconds * SECOND)
  .concat(
    [1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
    [1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR),
  )

export function Scale({ run, axis }: { run: RunTape; axis: Axis }) {
  const { from, to } = view.value
  const isTime = axis.kind === 'time'
  const length = isTime ? axis.spanMs : run.length
  const step = stepOf(((to - from) * length) / LABELS_MAX, isTime)
  const first = Math.ceil((from * length) / step)
  const labels = Array.from({ length: LABELS_MAX + 1 }, (_, index) => (first + index) * step)
  return (
    <div class="scrub-scale muted" aria-hidden="true">
      {labels.map((value) => {
        const place = length === 0 ? 0 : (value / length - from) / (to - from)
        if (place > 1 || (length === 0 && value > 0)) return null
        const shift = place < EDGE ? 0 : place > 1 - EDGE ? -100 : -50
        return (
          <span key={value} style={{ left: `${place * 100}%`, transform: `translateX(${shift}%)` }}>
            {isTime ? `+${offsetText(value, step)}` : whole(value)}
          </span>
        )
      })}
    </div>
  )
}

/** The next round number: whole events, whole milliseconds. */
function stepOf(rough: number, isTime: boolean): number {
  const ofClock = isTime && rough > 5 * SECOND ? ROUND_MS.find((ms) => ms >= rough) : undefined
  if (ofClock !== undefined) return ofClock
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  return [1, 2, 5, 10].find((times) => times * ten >= rough)! * ten
}

/** As exact as the next label is near. */
function offsetText(ms: number, step: number): string {
  if (ms < SECOND && step < SECOND) return `${ms} ms`
  const digits = step < 10 ? 3 : step < 100 ? 2 : step < SECOND ? 1 : 0
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(digits)} s`
  const seconds = ((ms % MINUTE) / SECOND).toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, '0')
  const minutes = Math.floor(ms / MINUTE)
  return minutes < 60
    ? `${minutes}:${seconds}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`
}
