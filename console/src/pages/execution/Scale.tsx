// What the timeline below shows, from its left edge to its right: round numbers, each where it belongs, none twice.
import { lasted, whole } from '../../lib/time'
import { type Axis, positionOf, type View, view } from './axis'
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

interface Label {
  /** On the axis. */
  at: number
  text: string
}

export function Scale({ run, axis }: { run: RunTape; axis: Axis }) {
  const { from, to } = view.value
  const labels = axis.kind === 'work' ? clockLabels(run, axis, view.value) : roundLabels(run, axis, view.value)
  return (
    <div class="scrub-scale muted" aria-hidden="true">
      {labels.map(({ at, text }) => {
        const place = (at - from) / (to - from)
        const shift = place < EDGE ? 0 : place > 1 - EDGE ? -100 : -50
        return (
          <span key={text} style={{ left: `${place * 100}%`, transform: `translateX(${shift}%)` }}>
            {text}
          </span>
        )
      })}
    </div>
  )
}

function roundLabels(run: RunTape, { kind, spanMs }: Axis, { from, to }: View): Label[] {
  const isTime = kind === 'time'
  const length = isTime ? spanMs : run.length
  if (length === 0) return [{ at: 0, text: isTime ? '+0 ms' : '0' }]
  const step = stepOf(((to - from) * length) / LABELS_MAX, isTime)
  const first = Math.ceil((from * length) / step)
  return Array.from({ length: LABELS_MAX + 1 }, (_, index) => (first + index) * step)
    .filter((value) => value <= to * length)
    .map((value) => ({ at: value / length, text: isTime ? `+${offsetText(value, step)}` : whole(value) }))
}

/** Where pauses are short the clock does not run evenly: events, spread over what is shown, with the time of each. */
function clockLabels({ tape }: RunTape, axis: Axis, { from, to }: View): Label[] {
  const times = tape.columns['time']!
  const found = new Map<string, Label>()
  let last = Number.NEGATIVE_INFINITY
  for (let index = 0; index < LABELS_MAX; index++) {
    const position = Math.max(1, positionOf(axis, from + ((to - from) * index) / (LABELS_MAX - 1)))
    const at = axis.fractions[position] ?? 0
    if (at < from || at - last < (to - from) / (2 * LABELS_MAX)) continue
    last = at
    const text = `+${lasted(Math.max(0, (times[position - 1] ?? 0) - (times[0] ?? 0)))}`
    found.set(text, { at, text })
  }
  return [...found.values()]
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
