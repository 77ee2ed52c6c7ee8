// Words in the bars of the timeline, where there is room for them: how long a step or a command was at work, and in the row of a
// worker or a pool which command it is.
import { colorOf } from '../../lib/theme'
import { lasted } from '../../lib/time'
import { placesOf, ROW, type Scene } from './drawBars'
import { momentAt, type RunTape, STEP, spanName, type TimelineRow } from './tape'
import type { Pen } from './useCanvas'

const FONT = '11px system-ui, sans-serif'
const PADDING = 6
/** With less nothing fits. */
const ROOM_MIN = 24

export function drawLabels({ context, width, height }: Pen, { run, rows, axis, view, position, top }: Scene): void {
  if (run.isCoarse) return
  const { issued, begun, ended } = run.marks
  const { xOf, startOf } = placesOf(axis, view, width)
  context.font = FONT
  context.textBaseline = 'middle'
  context.fillStyle = colorOf('bg')
  for (let row = Math.floor(top / ROW); row < Math.min(rows.length, Math.ceil((top + height) / ROW)); row++) {
    for (const span of rows[row]!.spans) {
      if (startOf(issued[span]!) > width) break
      const [begin, end] = [begun[span]!, ended[span]!]
      if (begin === 0 || end === 0 || end > position) continue
      const left = Math.max(0, startOf(begin))
      const room = Math.min(width, xOf(end)) - left - 2 * PADDING
      if (room < ROOM_MIN || !isNamed(run, rows[row]!, span)) continue
      const text = labelOf(run, rows[row]!, span)
      if (context.measureText(text).width <= room) context.fillText(text, left + PADDING, row * ROW - top + ROW / 2)
    }
  }
}

/** The row of a step has the bars of its commands under its own. */
function isNamed({ tape }: RunTape, row: TimelineRow, span: number): boolean {
  return !row.key.startsWith('step:') || tape.columns['span_kind']![span] === STEP
}

function labelOf(run: RunTape, row: TimelineRow, span: number): string {
  const { begun, ended } = run.marks
  const ms = momentAt(run, ended[span]!)!.at - momentAt(run, begun[span]!)!.at
  const isShared = row.key.startsWith('worker:') || row.key.startsWith('pool:')
  return isShared ? `${spanName(run, span)} · ${lasted(ms)}` : lasted(ms)
}
