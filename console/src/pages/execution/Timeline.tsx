// Steps as rows, their work as bars up to the cursor; what comes later is drawn faint. Row names are text of the page, the
// bars are painted.
import { colorOf } from '../../lib/theme'
import { Glyph, type StatusKind } from '../../parts/Status'
import type { Axis } from './axis'
import { moveTo, positionAt } from './cursor'
import { type RunRecord, type Stretch, statusAt } from './record'
import { type Pen, useCanvas } from './useCanvas'

const ROW = 26
const ROWS_MAX = 200
const BAR_MIN = 3

interface TimelineProps {
  record: RunRecord
  axis: Axis
}

export function Timeline({ record, axis }: TimelineProps) {
  return record.rows.length === 0 ? null : <Rows record={record} axis={axis} />
}

function Rows({ record, axis }: TimelineProps) {
  const position = positionAt(record.moments.length)
  const rows = record.rows.slice(0, ROWS_MAX)
  const height = rows.length * ROW
  const canvas = useCanvas(height, (pen) => drawBars(pen, record, axis, position), [record, axis, position])
  const byRow = new Map<number, Stretch[]>()
  for (const stretch of record.stretches) byRow.set(stretch.row, [...(byRow.get(stretch.row) ?? []), stretch])
  return (
    <section class="timeline" aria-label="Steps">
      <ol class="timeline-names">
        {rows.map((name, row) => {
          const kind = kindOfRow(byRow.get(row) ?? [], position)
          return (
            <li key={name} style={{ height: `${ROW}px` }}>
              <button
                type="button"
                class="quiet"
                title={`${name}: ${kind ?? 'not yet'}`}
                onClick={() => moveTo(byRow.get(row)?.[0]?.from ?? 0, record.moments)}
              >
                <Glyph kind={kind ?? 'waiting'} />
                <span class={kind === undefined ? 'muted ellipsis' : 'ellipsis'}>{name}</span>
                <span class="visually-hidden">{kind ?? 'not yet'}</span>
              </button>
            </li>
          )
        })}
      </ol>
      <div
        class="timeline-bars"
        onPointerDown={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect()
          moveTo(axis.positionAt((event.clientX - left) / width), record.moments)
        }}
      >
        <canvas ref={canvas} style={{ height: `${height}px` }} />
      </div>
      {record.rows.length > ROWS_MAX && (
        <p class="muted">
          first {ROWS_MAX} of {record.rows.length} steps
        </p>
      )}
    </section>
  )
}

/** How a step stands at a moment: at work, or as its last stretch ended. */
function kindOfRow(stretches: readonly Stretch[], position: number): StatusKind | undefined {
  return stretches
    .map((stretch) => statusAt(stretch, position))
    .filter((kind) => kind !== undefined)
    .at(-1)
}

function drawBars({ context, width, height }: Pen, record: RunRecord, axis: Axis, position: number): void {
  context.fillStyle = colorOf('bg')
  context.fillRect(0, 0, width, height)
  context.fillStyle = colorOf('faint')
  for (let row = 1; row <= record.rows.length; row++) context.fillRect(0, row * ROW - 1, width, 1)
  const total = record.moments.length
  const now = axis.fractionOf(position) * width
  const colors = new Map<StatusKind, string>()
  const colorFor = (kind: StatusKind): string => {
    if (!colors.has(kind)) colors.set(kind, colorOf(kind))
    return colors.get(kind)!
  }
  const later = colorOf('line')
  for (const stretch of record.stretches) {
    if (stretch.row >= ROWS_MAX) continue
    const left = axis.fractionOf(stretch.from - 1) * width
    const right = axis.fractionOf(stretch.to === 0 ? total : stretch.to) * width
    const y = stretch.row * ROW + 6
    const wide = Math.max(BAR_MIN, right - left)
    context.fillStyle = later
    context.fillRect(left, y, wide, ROW - 13)
    const kind = statusAt(stretch, position)
    if (kind === undefined) continue
    context.fillStyle = colorFor(kind)
    context.fillRect(left, y, Math.max(BAR_MIN, Math.min(right, now) - left), ROW - 13)
    // A notch at the end says the same as the colour.
    if (kind === 'failed') context.clearRect(left + wide - 6, y + 4, 3, ROW - 21)
  }
  context.fillStyle = colorOf('ink')
  context.fillRect(Math.min(width - 1, now), 0, 1, height)
}
