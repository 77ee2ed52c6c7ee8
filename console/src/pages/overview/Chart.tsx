// One chart: its lines, the numbers of the moment that is looked at, and what the pointer does to it.
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colorOf, paint, zone } from '../../lib/theme'
import { clockText } from '../../lib/time'
import type { Span } from './moment'
import { type ChartSpec, type Series, valueAt } from './series'
import '../../styles/charts.css'

const HEIGHT = 126
/** There is no half of an execution. */
const WHOLE_STEPS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((ten) => [ten, 2 * ten, 5 * ten])
/** From a second to a day; without those of two and three minutes a chart of some minutes would have one mark. */
const TIME_STEPS = [1, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1_800].concat(
  [1, 2, 3, 4, 6, 12, 24].map((hours) => hours * 3_600),
)

interface ChartProps {
  spec: ChartSpec
  series: Series
  shown: Span
  /** Marked on it. */
  moment: number | undefined
  /** Whose numbers are written. */
  seen: number | undefined
  onHover: (at: number | undefined) => void
  onZoom: (span: Span) => void
  onOpen: (at: number) => void
}

export function Chart(props: ChartProps) {
  const { spec, series, shown, moment, seen } = props
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>()
  const newest = useRef(props)
  newest.current = props
  useEffect(() => {
    const element = box.current!
    const made = new UPlot(optionsOf(spec, element.clientWidth, newest), dataOf(spec, series), element)
    chart.current = made
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      made.destroy()
    }
  }, [spec, paint.value, zone.value])
  useEffect(() => {
    chart.current?.batch(() => {
      chart.current!.setData(dataOf(spec, series), false)
      chart.current!.setScale('x', { min: shown.from / 1_000, max: shown.to / 1_000 })
    })
  }, [series, shown.from, shown.to, moment, paint.value, zone.value])
  return (
    <figure class="chart">
      <figcaption>
        <b>{spec.title}</b>
        {spec.lines.map(({ column, name, color }) => {
          const value = valueAt(series, column, seen)
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

/** Stacked lines stand on those before them, which are drawn over them: where there is nothing to add, the lower one is seen. */
function drawnLines({ lines, isStacked }: ChartSpec): ChartSpec['lines'] {
  return isStacked === true ? lines.toReversed() : lines
}

function dataOf(spec: ChartSpec, { at, columns }: Series): UPlot.AlignedData {
  const times = at.map((time) => time / 1_000)
  const given = spec.lines.map(({ column }) => columns[column] ?? times.map(() => null))
  if (spec.isStacked !== true) return [times, ...given]
  const ground = times.map(() => 0)
  const stacked = given.map((values) =>
    values.map((value, index) => {
      ground[index]! += value ?? 0
      return value === null ? null : ground[index]!
    }),
  )
  return [times, ...stacked.toReversed()]
}

function optionsOf(spec: ChartSpec, width: number, props: { readonly current: ChartProps }): UPlot.Options {
  const { title, format, isStacked } = spec
  const lines = drawnLines(spec)
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
    cursor: {
      sync: { key: 'overview' },
      drag: { x: true, y: false, setScale: false },
      points: { size: 5 },
    },
    hooks: { ...pointerHooks(props), draw: [(made) => mark(made, props.current.moment)] },
    scales: { x: { auto: false }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        // Below the last number of the other axis, and often enough for a daemon that has just started.
        incrs: TIME_STEPS,
        gap: 10,
        size: 28,
        space: 55,
        values: (_, times) => times.map((time) => clockText(time * 1_000).slice(11, isDense(times) ? 19 : 16)),
      },
      {
        ...axis,
        ...(lines.some(({ column }) => /seconds?$/.test(column)) ? {} : { incrs: WHOLE_STEPS }),
        size: 54,
        space: 28,
        values: (_, values) => values.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, color }, index) => ({
        label: name,
        stroke: colorOf(color),
        width: 1.5,
        points: { show: false },
        spanGaps: true,
        ...(isStacked === true && index === lines.length - 1 ? { fill: thin(color) } : {}),
      })),
    ],
    ...(isStacked === true
      ? {
          bands: lines
            .slice(1)
            .map((_, index) => ({ series: [index + 1, index + 2], fill: thin(lines[index]!.color) })),
        }
      : {}),
  } as UPlot.Options
}

function thin(color: string): string {
  return colorOf(color).replace(/^rgb\((.*)\)$/, 'rgba($1, 0.3)')
}

/** The cursor is that of all charts; what is dragged and clicked is the business of the one under the pointer. */
function pointerHooks(props: { readonly current: ChartProps }): UPlot.Hooks.Arrays {
  let isPressed = false
  let isDragged = false
  const listen = (made: UPlot): void => {
    const { over } = made
    const timeAt = (): number | undefined => props.current.series.at[made.cursor.idx ?? -1]
    over.addEventListener('mousedown', () => {
      isPressed = true
      isDragged = false
    })
    over.addEventListener('mousemove', () => props.current.onHover(timeAt()))
    over.addEventListener('mouseleave', () => props.current.onHover(undefined))
    over.addEventListener('click', () => {
      const at = timeAt()
      if (!isDragged && at !== undefined) props.current.onOpen(at)
    })
  }
  const zoom = (made: UPlot): void => {
    const { left, width } = made.select
    made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    if (!isPressed) return
    isPressed = false
    isDragged = true
    props.current.onZoom({ from: made.posToVal(left, 'x') * 1_000, to: made.posToVal(left + width, 'x') * 1_000 })
  }
  return { ready: [listen], setSelect: [zoom] }
}

function mark({ ctx, bbox, valToPos }: UPlot, moment: number | undefined): void {
  if (moment === undefined) return
  const x = Math.round(valToPos(moment / 1_000, 'x', true))
  if (x < bbox.left || x > bbox.left + bbox.width) return
  ctx.fillStyle = colorOf('accent')
  ctx.fillRect(x - 1, bbox.top, 2, bbox.height)
}
