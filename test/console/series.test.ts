// Promise: the series are what the metrics say, taken every few seconds: gauges over all shards, growth per second, quantiles of
// what came since the last look; the last minute becomes one point of the day; nothing older than its time is kept.
import { expect, it } from 'vitest'
import { METRICS } from '../../src/daemon/metricTable.js'
import { seriesRoutes } from '../../src/http/routes/health/series.js'
import type { Clock } from '../../src/runtime/clock.js'
import { createMetrics } from '../../src/runtime/metrics.js'
import { createSeries, SERIES, SERIES_NAMES } from '../../src/services/console/series.js'
import { openRoutes } from '../support/routeServer.js'
import { until } from '../support/until.js'

const START = Date.parse('2026-03-01T10:00:00Z')

/** Time stands still until it is moved; whoever sleeps wakes with it. */
function handClock() {
  let ms = 0
  let sleepers: (() => void)[] = []
  const clock: Clock = {
    now: () => START + ms,
    monotonic: () => ms,
    sleep: (_, ...signals) =>
      new Promise((resolve) => {
        const wake = (): void => {
          for (const signal of signals) signal.removeEventListener('abort', wake)
          resolve()
        }
        sleepers.push(wake)
        for (const signal of signals) signal.addEventListener('abort', wake)
      }),
  }
  const move = async (by: number): Promise<void> => {
    await until('the loop sleeps', () => sleepers.length > 0, { everyMs: 1 })
    ms += by
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
    await until('the loop sleeps again', () => sleepers.length > 0, { everyMs: 1 })
  }
  return { clock, move }
}

it('follow the metrics, by step, name and time', async () => {
  const metrics = createMetrics(METRICS, { process: true })
  const { clock, move } = handClock()
  let running = 3
  const series = createSeries({
    metrics,
    refresh: () => metrics.set('noetl_cp_state_tracked', running),
    clock,
    random: () => 0.5,
    onError: (error) => {
      throw error
    },
  })
  const api = openRoutes(seriesRoutes({ series, clock }))
  const ask = async (query: string) => JSON.parse((await api.get(`/api/overview/series?${query}`)).text)
  try {
    metrics.set('noetl_cp_outbox_rows', 2, { shard: '0', status: 'PENDING' })
    metrics.set('noetl_cp_outbox_rows', 5, { shard: '1', status: 'PENDING' })
    metrics.set('noetl_cp_outbox_rows', 1, { shard: '1', status: 'DEAD' })
    metrics.set('noetl_cp_outbox_oldest_age_seconds', 4, { shard: '0' })
    metrics.set('noetl_cp_outbox_oldest_age_seconds', 9, { shard: '1' })
    await series.start()
    await move(0)
    metrics.inc('noetl_cp_outbox_publish_total', { outcome: 'stored' }, 50)
    metrics.inc('noetl_cp_outbox_publish_total', { outcome: 'rejected' }, 50)
    metrics.inc('noetl_cp_events_written_total', {}, 20)
    // States that somebody looks at are made of events that were there before.
    metrics.inc('noetl_cp_state_events_applied_total', {}, 1_000)
    for (let n = 0; n < 98; n++) metrics.observe('noetl_cp_outbox_publish_seconds', 0.004)
    for (let n = 0; n < 2; n++) metrics.observe('noetl_cp_outbox_publish_seconds', 0.2)
    running = 7
    await move(5_000)
    const names =
      'outbox_pending,outbox_dead,outbox_oldest_seconds,published_per_second,publish_p50_seconds,publish_p99_seconds,events_appended_per_second,executions_running'
    const since = new Date(START + 5_000).toISOString()
    const body = await ask(`names=${names}&since=${since}`)
    expect(body).toMatchObject({ step: 5, at: [START + 5_000], scope: 'this daemon, since its start' })
    expect(body.columns).toEqual({
      outbox_pending: [7],
      outbox_dead: [1],
      outbox_oldest_seconds: [9],
      published_per_second: [10],
      publish_p50_seconds: [0.005],
      publish_p99_seconds: [0.25],
      events_appended_per_second: [4],
      executions_running: [7],
    })
    // Nothing was published since: no rate of nothing, and no quantile of nobody.
    await move(60_000)
    const quiet = await ask('step=60&names=published_per_second,publish_p99_seconds')
    expect(quiet.columns.published_per_second).toEqual([5])
    expect(quiet.columns.publish_p99_seconds).toEqual([0.25])
    const last = (await ask('names=publish_p99_seconds')).columns.publish_p99_seconds
    expect(last.at(-1)).toBeNull()
    for (let n = 0; n < 725; n++) await move(5_000)
    const all = await ask(`since=${new Date(START).toISOString()}&step=5`)
    expect(all.at).toHaveLength(720)
    expect(Object.keys(all.columns).sort()).toEqual([...SERIES_NAMES].sort())
    expect((await api.get('/api/overview/series?names=weather')).status).toBe(400)
    expect((await api.get('/api/overview/series?step=7')).status).toBe(400)
  } finally {
    await Promise.all([series.stop(1_000), api.close()])
  }
})

it('are taken from metrics that exist', () => {
  const known = new Set<string>([...Object.keys(METRICS), 'process_resident_memory_bytes'])
  expect(Object.values(SERIES).filter(({ metric }) => !known.has(metric))).toEqual([])
})
