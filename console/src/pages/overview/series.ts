// Numbers of the daemon over time, as GET /api/overview/series has them, and how they are charted.
import { whole } from '../../lib/time'

export interface Series {
  step: number
  /** Milliseconds since 1970. */
  at: number[]
  columns: Readonly<Record<string, (number | null)[]>>
}

export interface ChartSpec {
  title: string
  lines: readonly { column: string; name: string; color: string }[]
  format: (value: number) => string
  /** Its lines are parts of one number. */
  isStacked?: boolean
}

const count = (value: number): string => (value >= 100 ? whole(Math.round(value)) : trimmed(value))
const seconds = (value: number): string => (value < 1 ? `${trimmed(value * 1_000)} ms` : `${trimmed(value)} s`)
const perSecond = (value: number): string => `${count(value)}/s`

function trimmed(value: number): string {
  return String(Math.round(value * 10) / 10)
}

export const CHARTS: readonly ChartSpec[] = [
  {
    title: 'Outbox',
    lines: [
      { column: 'outbox_pending', name: 'pending', color: 'waiting' },
      { column: 'outbox_in_flight', name: 'in flight', color: 'running' },
      { column: 'outbox_failed', name: 'retry', color: 'failed' },
      { column: 'outbox_dead', name: 'dead', color: 'stuck' },
    ],
    format: count,
    isStacked: true,
  },
  {
    title: 'Age of the oldest row',
    lines: [{ column: 'outbox_oldest_seconds', name: 'oldest', color: 'waiting' }],
    format: seconds,
  },
  {
    title: 'Published',
    lines: [{ column: 'published_per_second', name: 'messages', color: 'completed' }],
    format: perSecond,
  },
  {
    title: 'Time to publish',
    lines: [
      { column: 'publish_p50_seconds', name: 'p50', color: 'running' },
      { column: 'publish_p99_seconds', name: 'p99', color: 'stuck' },
    ],
    format: seconds,
  },
  {
    title: 'Events',
    lines: [
      { column: 'events_appended_per_second', name: 'appended', color: 'running' },
      { column: 'events_received_per_second', name: 'from outside', color: 'completed' },
    ],
    format: perSecond,
  },
  {
    title: 'Executions looked after',
    lines: [{ column: 'executions_running', name: 'running', color: 'running' }],
    format: count,
  },
]

export const RANGES = [
  { id: '15m', minutes: 15, step: 5 },
  { id: '1h', minutes: 60, step: 5 },
  { id: '6h', minutes: 360, step: 60 },
  { id: '24h', minutes: 1_440, step: 60 },
] as const

/** What it was at a moment, or is now. */
export function valueAt({ columns, at: times, step }: Series, column: string, at?: number): number | undefined {
  const values = columns[column] ?? []
  // Nothing was measured just now: what was before is not what is.
  if (at === undefined) return values.at(-1) ?? undefined
  const index = indexNear(times, at)
  const isNear = Math.abs((times[index] ?? Number.NaN) - at) <= step * 1_000
  return isNear ? (values[index] ?? undefined) : undefined
}

export function indexNear(times: readonly number[], at: number): number {
  let best = 0
  times.forEach((time, index) => {
    if (Math.abs(time - at) < Math.abs(times[best]! - at)) best = index
  })
  return best
}
