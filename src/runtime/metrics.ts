// Prometheus metrics. One row per metric; every series of known labels exists at zero from the start,
// because an absent series and a healthy one look the same to an alert. Ids are never labels.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

type Labels = Readonly<Record<string, readonly string[]>>

export interface MetricRow {
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Label name → the values known in advance. An empty list is filled in at run time (shards, tasks). */
  labels?: Labels
  buckets?: readonly number[]
}

export interface Metrics {
  readonly contentType: string
  inc(name: string, labels?: Record<string, string>, by?: number): void
  set(name: string, value: number, labels?: Record<string, string>): void
  observe(name: string, value: number, labels?: Record<string, string>): void
  /** Names label values that were not known when the table was written; their series start at zero. */
  declare(name: string, labels: Record<string, string>): void
  /** Runs before every scrape; the place for gauges that are read, not counted. */
  onCollect(collect: () => void | Promise<void>): void
  /** Runs before every scrape and every reading; the place for what is counted elsewhere and handed over. */
  onRead(handOver: () => void): void
  render(): Promise<string>
  /** What these hold now, without collecting anything for it. */
  read(names: ReadonlySet<string>): Promise<MetricValue[]>
}

export interface MetricValue {
  metric: string
  labels: Readonly<Record<string, string>>
  value: number
  /** Of a histogram. */
  part?: 'bucket' | 'sum' | 'count'
}

export function createMetrics(table: Readonly<Record<string, MetricRow>>, options: { process: boolean }): Metrics {
  const registry = new Registry()
  if (options.process) {
    collectDefaultMetrics({ register: registry })
    // Gauges that are called like counters; each has a twin without the sum.
    for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`)
  }
  const counters = new Map<string, Counter>()
  const gauges = new Map<string, Gauge>()
  const histograms = new Map<string, Histogram>()
  const collectors: (() => void | Promise<void>)[] = []
  const handOvers: (() => void)[] = []

  for (const [name, row] of Object.entries(table)) {
    const labelNames = Object.keys(row.labels ?? {})
    const base = { name, help: row.help, labelNames, registers: [registry] }
    if (row.kind === 'counter') counters.set(name, new Counter(base))
    else if (row.kind === 'gauge') gauges.set(name, new Gauge(base))
    else histograms.set(name, new Histogram({ ...base, buckets: [...(row.buckets ?? DEFAULT_SECONDS)] }))
    for (const labels of combinations(row.labels ?? {})) zero(name, labels)
  }

  function zero(name: string, labels: Record<string, string>): void {
    counters.get(name)?.inc(labels, 0)
    gauges.get(name)?.set(labels, 0)
    histograms.get(name)?.zero(labels)
  }

  function find<T>(map: Map<string, T>, name: string): T {
    const metric = map.get(name)
    if (metric === undefined) throw new Error(`metric ${name} is not in the table`)
    return metric
  }

  return {
    contentType: registry.contentType,
    inc: (name, labels = {}, by = 1) => find(counters, name).inc(labels, by),
    set: (name, value, labels = {}) => find(gauges, name).set(labels, value),
    observe: (name, value, labels = {}) => find(histograms, name).observe(labels, value),
    declare: (name, labels) => {
      const given = Object.entries(labels).map(([label, value]) => [label, [value]] as const)
      for (const full of combinations({ ...table[name]?.labels, ...Object.fromEntries(given) })) zero(name, full)
    },
    onCollect: (collect) => {
      collectors.push(collect)
    },
    onRead: (handOver) => {
      handOvers.push(handOver)
    },
    render: async () => {
      for (const handOver of handOvers) handOver()
      await Promise.all(collectors.map((collect) => collect()))
      return registry.metrics()
    },
    read: async (names) => {
      for (const handOver of handOvers) handOver()
      const found = await Promise.all([...names].map((name) => registry.getSingleMetric(name)?.get()))
      return found.flatMap((metric) =>
        (metric?.values ?? []).map((one) => readValue(metric!.name, one as unknown as RawValue)),
      )
    },
  }
}

interface RawValue {
  labels: Record<string, string | number | undefined>
  value: number
  metricName?: string
}

function readValue(metric: string, { labels, value, metricName }: RawValue): MetricValue {
  const texts = Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, String(label)]))
  const part = /_(bucket|sum|count)$/.exec(metricName ?? '')?.[1] as MetricValue['part']
  return part === undefined ? { metric, labels: texts, value } : { metric, labels: texts, value, part }
}

const DEFAULT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

function combinations(labels: Labels): Record<string, string>[] {
  let result: Record<string, string>[] = [{}]
  for (const [name, values] of Object.entries(labels)) {
    result = result.flatMap((partial) => values.map((value) => ({ ...partial, [name]: value })))
  }
  return result
}
