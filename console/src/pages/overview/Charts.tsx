// How the instance has done lately: a chart per number, one time axis and one cursor for all of them. Dragging zooms, a click leads
// to the executions that began around that moment; the keys do the same.
import { useSignal } from '@preact/signals'
import { apiPath, get } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { go, hrefOf } from '../../lib/router'
import { clockText } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Chart } from './Chart'
import {
  askedMoment,
  askedRange,
  askedSpan,
  chooseRange,
  leaveMoment,
  moveMoment,
  SHORTEST_MS,
  type Span,
  timeText,
  zoomBy,
  zoomTo,
} from './moment'
import { CHARTS, RANGES, type Series, valueAt } from './series'

const HOUR_MS = 3_600_000
/** Around a click, in steps. */
const AROUND = 6
const NAMES = CHARTS.flatMap(({ lines }) => lines.map(({ column }) => column)).join(',')

export function Charts() {
  const range = askedRange()
  const moment = askedMoment()
  const now = Date.now()
  const wanted = askedSpan(range, now)
  const hovered = useSignal<number | undefined>(undefined)
  const begin = (at: number): number => Math.min(at - range.minutes * 60_000, wanted?.from ?? at)
  const isOlder = wanted !== undefined && wanted.from < now - range.minutes * 60_000
  const load = (signal: AbortSignal): Promise<Series> => {
    const since = begin(Date.now())
    const step = Date.now() - since > HOUR_MS + SHORTEST_MS ? 60 : range.step
    return get<Series>(apiPath('/api/overview/series', { names: NAMES, step, since: timeText(since) }), signal)
  }
  const series = useResource(`${range.id} ${isOlder ? wanted.from : ''}`, load, { everyMs: range.step * 1_000 })
  const shown = wanted ?? newest(series.data, range.minutes)
  const open = (at: number): void => {
    const around = AROUND * (series.data?.step ?? range.step) * 1_000
    go(hrefOf('/executions', { since: timeText(at - around), until: timeText(at + around) }))
  }
  const move = (by: number) => (event: KeyboardEvent) =>
    series.data !== undefined && moveMoment(event.shiftKey ? by * 10 : by, series.data, shown)
  useKeys({
    ArrowLeft: move(-1),
    ArrowRight: move(1),
    '+': () => zoomBy(0.5, shown, range),
    '-': () => zoomBy(2, shown, range),
    Escape: leaveMoment,
    ...(moment === undefined ? {} : { Enter: () => open(moment) }),
    ...Object.fromEntries(RANGES.map((_, index) => [String(index + 1), () => chooseRange(index)])),
  })
  const seen = hovered.value ?? moment
  return (
    <section class="section" aria-label="Lately">
      <div class="charts-head">
        <h2>Lately</h2>
        <Moment at={seen} data={series.data} shown={shown} />
        {(moment !== undefined || wanted !== undefined) && (
          <button type="button" title="Esc" onClick={leaveMoment}>
            Back to now
          </button>
        )}
        <span class="buttons">
          {RANGES.map(({ id }, index) => (
            <button key={id} type="button" aria-pressed={id === range.id} onClick={() => chooseRange(index)}>
              {id}
            </button>
          ))}
        </span>
      </div>
      <Panel
        resource={series}
        isEmpty={({ at }) => wanted !== undefined && !at.some((time) => time >= wanted.from && time <= wanted.to)}
        empty={<p>Nothing is kept of that time: a daemon remembers the last day, since its start.</p>}
      >
        {(data) => (
          <div class="charts">
            {CHARTS.map((spec) => (
              <Chart
                key={spec.title}
                spec={spec}
                series={data}
                shown={shown}
                moment={moment}
                seen={seen}
                onHover={(at) => {
                  hovered.value = at
                }}
                onZoom={zoomTo}
                onOpen={open}
              />
            ))}
          </div>
        )}
      </Panel>
    </section>
  )
}

/** The newest that there is; a daemon that has just started fills the charts with what it has. */
function newest(series: Series | undefined, minutes: number): Span {
  const to = series?.at.at(-1) ?? Date.now()
  const first = Math.min(series?.at[0] ?? 0, to - SHORTEST_MS)
  return { from: Math.max(first, to - minutes * 60_000), to }
}

/** The moment that the numbers are of; moved by the arrow keys, and told to who cannot see the charts. */
function Moment({ at, data, shown }: { at: number | undefined; data: Series | undefined; shown: Span }) {
  const text = at === undefined ? 'now' : clockText(at)
  const numbers =
    data === undefined
      ? []
      : CHARTS.flatMap(({ title, lines, format }) =>
          lines.map(({ column, name }) => {
            const value = valueAt(data, column, at)
            return `${title}, ${name} ${value === undefined ? 'unknown' : format(value)}`
          }),
        )
  return (
    <span
      class="chart-moment"
      role="slider"
      tabIndex={0}
      aria-label="Moment on the charts"
      aria-valuemin={Math.round(shown.from / 1_000)}
      aria-valuemax={Math.round(shown.to / 1_000)}
      aria-valuenow={Math.round((at ?? shown.to) / 1_000)}
      aria-valuetext={[text, ...numbers].join('; ')}
      title="← → move it, + − zoom, Enter opens the executions of that time. Numbers of this daemon, since its start."
    >
      {at === undefined ? 'this daemon, since its start' : text}
    </span>
  )
}
