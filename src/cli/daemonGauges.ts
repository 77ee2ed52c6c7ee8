// Numbers that only the running daemon knows, read from its /metrics: a few gauges, summed over labels.

export interface Gauge {
  labels: Readonly<Record<string, string>>
  value: number
}

export type Gauges = ReadonlyMap<string, readonly Gauge[]>

/** Prometheus text → samples by name. Lines it does not understand are skipped: this only feeds a screen. */
export function parseGauges(text: string): Gauges {
  const found = new Map<string, Gauge[]>()
  for (const line of text.split('\n')) {
    const match = /^([a-z_]+)(?:\{(.*)\})? ([-+.\deE]+)$/.exec(line)
    if (match === null) continue
    const labels = [...(match[2] ?? '').matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
      name!,
      value!,
    ])
    const samples = found.get(match[1]!) ?? []
    samples.push({ labels: Object.fromEntries(labels), value: Number(match[3]) })
    found.set(match[1]!, samples)
  }
  return found
}

/** Undefined when the daemon does not have the series at all. */
export function total(gauges: Gauges, name: string): number | undefined {
  const samples = gauges.get(name)
  return samples?.reduce((sum, sample) => sum + sample.value, 0)
}

/** Sums by one label: `{PENDING: 3, FAILED: 0}`. */
export function totalsBy(gauges: Gauges, name: string, label: string): Record<string, number> {
  const totals: Record<string, number> = {}
  for (const { labels, value } of gauges.get(name) ?? []) {
    const key = labels[label] ?? ''
    totals[key] = (totals[key] ?? 0) + value
  }
  return totals
}

/** Of ages, the worst counts. Undefined when the daemon does not have the series at all. */
export function largest(gauges: Gauges, name: string): number | undefined {
  const samples = gauges.get(name)
  return samples === undefined ? undefined : Math.max(...samples.map((sample) => sample.value))
}
