// The steps of a run on 96 pixels: when each was, and how it ended.
import { now } from '../../lib/now'
import { lasted, millisOf, whole } from '../../lib/time'
import { kindOf, wordOf } from '../../parts/Status'
import type { ExecutionSummary } from './summary'
import { type Timeline, timelines } from './timelines'

const WIDTH = 96
const HEIGHT = 18
const LANES_MAX = 6
const SHORTEST = 3
const LOWEST = 2

export function MiniTimeline({ row }: { row: ExecutionSummary }) {
  const timeline = timelines.value.get(row.execution_id)?.timeline
  if (timeline === undefined) return <span class="mini" />
  const begin = Math.min(millisOf(row.start_time ?? timeline.begins_at), millisOf(timeline.begins_at))
  const end = millisOf(row.end_time)
  const bars = placed(timeline, begin, Number.isNaN(end) ? now.value : end)
  const lanes = 1 + Math.max(...bars.map(({ lane }) => lane))
  const height = Math.min(6, Math.floor(HEIGHT / lanes))
  const top = (HEIGHT - lanes * height) / 2
  return (
    <span class="mini" role="img" aria-label={textOf(timeline)} title={textOf(timeline)}>
      {bars.map(({ step, status, x, width, lane }) => (
        <i
          key={step}
          class={`bar ${kindOf(status)}`}
          style={{
            left: `${x}px`,
            top: `${top + lane * height}px`,
            width: `${width}px`,
            height: `${Math.max(LOWEST, height - 1)}px`,
          }}
        />
      ))}
    </span>
  )
}

/** Steps that overlap lie below one another; what does not fit any more shares the last lane. */
function placed({ steps, begins_at: first }: Timeline, begin: number, end: number) {
  const before = millisOf(first) - begin
  const length = Math.max(1, end - begin, ...steps.map(({ from_ms: from, to_ms: to }) => before + (to ?? from)))
  const ends: number[] = []
  return steps.map(({ step, status, from_ms: from, to_ms: to }) => {
    const until = to ?? length - before
    const free = ends.findIndex((taken) => taken <= from)
    const lane = free >= 0 ? free : Math.min(ends.length, LANES_MAX - 1)
    ends[lane] = Math.max(ends[lane] ?? 0, until)
    const width = Math.max(SHORTEST, ((until - from) / length) * WIDTH)
    return { step, status, x: Math.min(((before + from) / length) * WIDTH, WIDTH - width), width, lane }
  })
}

function textOf({ steps, events, looked_at: lookedAt }: Timeline): string {
  const told = steps.map(({ step, status, from_ms: from, to_ms: to }) => {
    const word = wordOf(status)
    return to === null ? `${step}: ${word}` : `${step}: ${word}, ${lasted(to - from)}`
  })
  return `${told.join('\n')}${lookedAt < events ? `\nby ${whole(lookedAt)} of ${whole(events)} events` : ''}`
}
