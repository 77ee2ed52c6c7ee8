// How the instance has done lately: a chart per number, one time axis and one cursor for all of them. A click leads to the
// executions that began around that moment.
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { apiPath, get } from '../../lib/api'
import { ask, go, hrefOf, query } from '../../lib/router'
import { colorOf, paint, zone } from '../../lib/theme'
import { clockText } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { CHARTS, type ChartSpec, lastOf, RANGES, type Series } from './series'

const HEIGHT = 120
const SHORTEST_SECONDS = 60
/** Around a click, in steps. */
const AROUND = 6

export function Charts() {
  const range = RANGES.find(({ id }) => id === query.value.get('range')) ?? RANGES[0]
  const names = CHARTS.flatMap(({ lines }) => lines.map(({ column }) => column)).join(',')
  const load = (signal: AbortSignal): Promise<Series> => {
    const since = timeText(Date.now() - range.minutes * 60_000)
    return get<Series>(apiPath('/api/overview/series', { names, step: range.step, since }), signal)
  }
  const series = useResource(`${range.id} ${names}`, load, { everyMs: range.step * 1_000 })
  return (
    <section class="section" aria-label="Lately">
      <div class="charts-head">
        <h2>Lately</h2>
        <span class="muted">this daemon, since its start</span>
        <span class="buttons">
          {RANGES.map(({ id }, index) => (
            <button
              key={id}
              type="button"
              aria-pressed={id === range.id}
              onClick={() => ask({ range: index === 0 ? undefined : id }, { replace: true })}
            >
              {id}
            </button>
          ))}
        </span>
      </div>
      <Panel resource={series}>
        {(data) => (
          <div class="charts">
            {CHARTS.map((spec) => (
              <Chart key={spec.title} spec={spec} series={data} minutes={range.minutes} />
            ))}
          </div>
        )}
      </Panel>
    </section>
  )
}

function Chart({ spec, series, minutes }: { spec: ChartSpec; series: Series; minutes: number }) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>()
  const data = useRef<Series>(series)
  data.current = series
  useEffect(() => {
    const element = box.current!
    const made = new UPlot(optionsOf(spec, element.clientWidth), dataOf(spec, series), element)
    chart.current = made
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    const open = (): void => {
      const at = data.current.at[made.cursor.idx ?? -1]
      if (at === undefined) return
      const around = AROUND * data.current.step * 1_000
      go(hrefOf('/executions', { since: timeText(at - around), until: timeText(at + around) }))
    }
    made.over.addEventListener('click', open)
    return () => {
      watcher.disconnect()
      made.destroy()
    }
  }, [spec, paint.value, zone.value])
  useEffect(() => {
    const last = (series.at.at(-1) ?? Date.now()) / 1_000
    // A daemon that has just started fills the chart with what it has.
    const first = Math.min((series.at[0] ?? 0) / 1_000, last - SHORTEST_SECONDS)
    chart.current?.batch(() => {
      chart.current!.setData(dataOf(spec, series), false)
      chart.current!.setScale('x', { min: Math.max(first, last - minutes * 60), max: last })
    })
  }, [series, minutes, paint.value, zone.value])
  return (
    <figure class="chart">
      <figcaption>
        <b>{spec.title}</b>
        {spec.lines.map(({ column, name, color }) => {
          const value = lastOf(series, column)
          return (
            <span key={column}>
              <i class={`dot ${color}`} />
              {spec.lines.length > 1 && `${name} `}
              {value === undefined ? '–' : spec.format(value)}
            </span>
          )
        })}
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  )
}

/** Several marks within a minute. */
function isDense(times: readonly number[]): boolean {
  return times.length > 1 && times[1]! - times[0]! < 60
}

function timeText(at: number): string {
  return new Date(at).toISOString()
}

function dataOf({ lines }: ChartSpec, { at, columns }: Series): UPlot.AlignedData {
  const times = at.map((time) => time / 1_000)
  return [times, ...lines.map(({ column }) => columns[column] ?? times.map(() => null))]
}

function optionsOf({ title, lines, format }: ChartSpec, width: number): UPlot.Options {
  const axis = {
    stroke: colorOf('muted'),
    grid: { stroke: colorOf('faint'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return {
    id: `chart-${title.toLowerCase().replaceAll(' ', '-')}`,
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: 'overview' }, drag: { x: false, y: false }, points: { size: 5 } },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 22,
        space: 70,
        values: (_, times) => times.map((time) => clockText(time * 1_000).slice(11, isDense(times) ? 19 : 16)),
      },
      { ...axis, size: 54, space: 28, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...lines.map(({ name, color }) => ({
        label: name,
        stroke: colorOf(color),
        width: 1.5,
        points: { show: false },
        spanGaps: true,
      })),
    ],
  }
}
