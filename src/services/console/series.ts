// Numbers of this daemon over time, for charts: an hour in steps of 5 seconds, a day in steps of a minute. Taken from the
// metrics, so they cost no question to a database; kept in memory alone, and gone with the daemon.
import type { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import type { MetricValue } from '../../runtime/metrics.js'

interface SeriesRow {
  metric: string
  /** How samples of it become a number: as it is, as growth per second, or as a quantile of what came since the last look. */
  kind: 'gauge' | 'rate' | 'quantile'
  /** Of these labels alone. */
  only?: Readonly<Record<string, string>>
  quantile?: number
  /** Of several shards, and of a minute, the largest counts; otherwise the sum and the mean. */
  isWorst?: true
}

const rows = (status: string): SeriesRow => ({ metric: 'noetl_cp_outbox_rows', kind: 'gauge', only: { status } })
const open = (status: string): SeriesRow => ({ metric: 'noetl_cp_commands_open', kind: 'gauge', only: { status } })
const quantile = (metric: string, share: number): SeriesRow => ({
  metric,
  kind: 'quantile',
  quantile: share,
  isWorst: true,
})

/** Ages and times in seconds. */
export const SERIES = {
  outbox_pending: rows('PENDING'),
  outbox_failed: rows('FAILED'),
  outbox_in_flight: rows('IN_FLIGHT'),
  outbox_dead: rows('DEAD'),
  outbox_oldest_seconds: { metric: 'noetl_cp_outbox_oldest_age_seconds', kind: 'gauge', isWorst: true },
  published_per_second: { metric: 'noetl_cp_outbox_publish_total', kind: 'rate', only: { outcome: 'stored' } },
  publish_p50_seconds: quantile('noetl_cp_outbox_publish_seconds', 0.5),
  publish_p99_seconds: quantile('noetl_cp_outbox_publish_seconds', 0.99),
  events_appended_per_second: { metric: 'noetl_cp_events_written_total', kind: 'rate' },
  events_received_per_second: { metric: 'noetl_cp_events_appended_total', kind: 'rate', only: { outcome: 'stored' } },
  events_applied_per_second: { metric: 'noetl_cp_state_events_applied_total', kind: 'rate' },
  executions_running: { metric: 'noetl_cp_state_tracked', kind: 'gauge' },
  commands_pending: open('PENDING'),
  commands_running: open('RUNNING'),
  commands_claimed_per_second: { metric: 'noetl_cp_commands_claimed_total', kind: 'rate' },
  http_per_second: { metric: 'noetl_cp_http_requests_total', kind: 'rate' },
  http_p99_seconds: quantile('noetl_cp_http_request_seconds', 0.99),
  db_per_second: { metric: 'noetl_cp_db_queries_total', kind: 'rate' },
  db_p99_seconds: quantile('noetl_cp_db_query_seconds', 0.99),
  subscription_backlog: { metric: 'noetl_cp_subscription_backlog', kind: 'gauge' },
  memory_bytes: { metric: 'process_resident_memory_bytes', kind: 'gauge' },
} as const satisfies Record<string, SeriesRow>

export type SeriesName = keyof typeof SERIES
export const SERIES_NAMES = Object.keys(SERIES) as SeriesName[]
export const STEPS = [5, 60] as const
const POINTS: Record<(typeof STEPS)[number], number> = { 5: 720, 60: 1_440 }

export interface SeriesColumns {
  /** Milliseconds since 1970, when each sample was taken. */
  at: number[]
  /** NaN where there was nothing to measure. */
  columns: Record<string, number[]>
}

export interface Series extends PollLoop {
  read(names: readonly SeriesName[], sinceMs: number, step: (typeof STEPS)[number]): SeriesColumns
}

export interface SeriesDeps {
  metrics: { read(names: ReadonlySet<string>): Promise<MetricValue[]> }
  /** Brings gauges up to date that are otherwise set when somebody scrapes them. */
  refresh(): void
  clock: Clock
  random: () => number
  onError(error: CpError): void
}

export function createSeries({ metrics, refresh, clock, random, onError }: SeriesDeps): Series {
  const wanted = new Set<string>(SERIES_NAMES.map((name) => SERIES[name].metric))
  const fine = createRing(POINTS[5])
  const coarse = createRing(POINTS[60])
  let before: { at: number; values: MetricValue[] } | undefined
  let minute: { until: number; samples: number[][] } | undefined

  const loop = createPollLoop({
    name: 'series',
    clock,
    random,
    idleMs: STEPS[0] * 1_000,
    errorMs: 1_000,
    errorMsMax: 60_000,
    onError,
    runOnce: async () => {
      refresh()
      const now = { at: clock.monotonic(), values: await metrics.read(wanted) }
      const sample = SERIES_NAMES.map((name) => numberOf(SERIES[name], now, before))
      before = now
      fine.push(clock.now(), sample)
      minute ??= { until: now.at + STEPS[1] * 1_000, samples: [] }
      minute.samples.push(sample)
      if (now.at >= minute.until) {
        coarse.push(clock.now(), together(minute.samples))
        minute = undefined
      }
      return 'idle'
    },
  })

  return {
    ...loop,
    read: (names, sinceMs, step) => (step === STEPS[0] ? fine : coarse).read(names, sinceMs),
  }
}

function numberOf(
  { metric, kind, only, quantile: share, isWorst }: SeriesRow,
  now: { at: number; values: readonly MetricValue[] },
  before: { at: number; values: readonly MetricValue[] } | undefined,
): number {
  const found = now.values.filter((value) => value.metric === metric && matches(value, only))
  if (kind === 'gauge') {
    if (found.length === 0) return Number.NaN
    const numbers = found.map(({ value }) => value)
    return isWorst === true ? Math.max(...numbers) : numbers.reduce((sum, one) => sum + one, 0)
  }
  if (before === undefined) return Number.NaN
  const earlier = before.values.filter((value) => value.metric === metric && matches(value, only))
  if (kind === 'quantile') return quantileOf(found, earlier, share ?? 0.5)
  const seconds = (now.at - before.at) / 1_000
  const sum = (values: readonly MetricValue[]): number => values.reduce((total, { value }) => total + value, 0)
  return seconds <= 0 ? Number.NaN : Math.max(0, sum(found) - sum(earlier)) / seconds
}

function matches({ labels }: MetricValue, only: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(only).every(([name, value]) => labels[name] === value)
}

/** The upper edge of the bucket that holds it; of the last, which has none, the edge before. */
function quantileOf(now: readonly MetricValue[], before: readonly MetricValue[], share: number): number {
  const counts = new Map<number, number>()
  const add = (values: readonly MetricValue[], sign: number): void => {
    for (const { part, labels, value } of values) {
      if (part !== 'bucket') continue
      const edge = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le'])
      counts.set(edge, (counts.get(edge) ?? 0) + sign * value)
    }
  }
  add(now, 1)
  add(before, -1)
  const edges = [...counts.keys()].sort((left, right) => left - right)
  const total = counts.get(Number.POSITIVE_INFINITY) ?? 0
  if (total <= 0) return Number.NaN
  const found = edges.findIndex((edge) => (counts.get(edge) ?? 0) >= share * total)
  return edges[found] === Number.POSITIVE_INFINITY ? (edges.at(-2) ?? Number.NaN) : edges[found]!
}

function together(samples: readonly number[][]): number[] {
  return SERIES_NAMES.map((name, column) => {
    const numbers = samples.map((sample) => sample[column]!).filter((one) => !Number.isNaN(one))
    if (numbers.length === 0) return Number.NaN
    const row: SeriesRow = SERIES[name]
    if (row.isWorst === true) return Math.max(...numbers)
    return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
  })
}

/** So many samples, the oldest is overwritten. */
function createRing(points: number) {
  const width = SERIES_NAMES.length
  const at = new Float64Array(points)
  const values = new Float64Array(points * width)
  let count = 0
  return {
    push: (time: number, sample: readonly number[]): void => {
      at[count % points] = time
      values.set(sample, (count % points) * width)
      count += 1
    },
    read: (names: readonly SeriesName[], sinceMs: number): SeriesColumns => {
      const places: number[] = []
      for (let place = Math.max(0, count - points); place < count; place++) {
        if (at[place % points]! >= sinceMs) places.push(place % points)
      }
      const columnOf = (name: SeriesName): number[] => {
        const column = SERIES_NAMES.indexOf(name)
        return places.map((place) => values[place * width + column]!)
      }
      return {
        at: places.map((place) => at[place]!),
        columns: Object.fromEntries(names.map((name) => [name, columnOf(name)])),
      }
    },
  }
}
