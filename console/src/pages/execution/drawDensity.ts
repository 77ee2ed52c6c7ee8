// Paints the whole life of a run: how dense its events are, where it failed, what arrived late, and the handle.
import { colorOf } from '../../lib/theme'
import type { Axis, View } from './axis'
import { LINE, lineAt } from './cursorLine'
import { FAILED_FLAG, hasFlag, LATE_FLAG, type RunTape } from './tape'
import type { Pen } from './useCanvas'

const CELL = 3
const MARKS = 10
const SHORTEST = 5
const APART = 10
const HANDLE = 10

export interface Density {
  /** 0 to 1 by cell; 0 is no event. */
  heights: Float64Array
  flags: Uint8Array
}

/** Counted once for a tape, an axis and a width; moving the handle counts nothing. */
export function densityOf({ tape, length }: RunTape, { kind, fractions }: Axis, width: number): Density {
  const cells = Math.max(1, Math.floor(width / CELL))
  const counts = new Float64Array(cells)
  const lastTimes = new Float64Array(cells)
  const flags = new Uint8Array(cells)
  const { flags: ofEvents, time } = tape.columns
  for (let index = 0; index < length; index++) {
    const cell = Math.min(cells - 1, Math.floor(fractions[index + 1]! * cells))
    counts[cell]! += 1
    lastTimes[cell] = Math.max(lastTimes[cell]!, time![index]!)
    flags[cell]! |= ofEvents![index]!
  }
  // Where each event has one step, as many are in each cell: then it tells how quickly they came.
  if (kind === 'event') {
    let before = time![0] ?? 0
    counts.forEach((count, cell) => {
      if (count === 0) return
      counts[cell] = count / (1 + Math.max(0, lastTimes[cell]! - before))
      before = Math.max(before, lastTimes[cell]!)
    })
  }
  const most = counts.reduce((highest, count) => Math.max(highest, count), 0)
  return { heights: counts.map((count) => Math.sqrt(count / most)), flags }
}

export interface Marks {
  now: number
  pinned: number | undefined
  /** Places of snapshots. */
  snapshots: readonly number[]
  /** Places of the events of what was chosen. */
  life: readonly number[]
  view: View
}

export function drawDensity({ context, width, height }: Pen, { heights, flags }: Density, marks: Marks): void {
  context.fillStyle = colorOf('surface')
  context.fillRect(0, 0, width, height)
  const { from, to } = marks.view
  if (to - from < 1) {
    context.fillStyle = colorOf('accent-wash')
    context.fillRect(from * width, 0, Math.max(2, (to - from) * width), height)
  }
  const now = marks.now * width
  const [past, later] = [colorOf('accent'), colorOf('line')]
  const [failed, late] = [colorOf('failed'), colorOf('waiting')]
  heights.forEach((share, cell) => {
    if (!(share > 0)) return
    const x = cell * CELL
    const tall = Math.round(SHORTEST + share * (height - MARKS - 4 - SHORTEST))
    context.fillStyle = x <= now ? past : later
    context.fillRect(x, height - tall, CELL - 1, tall)
    if (hasFlag(flags[cell]!, FAILED_FLAG)) {
      context.fillStyle = failed
      context.fillRect(x, 2, CELL - 1, MARKS - 3)
    }
    if (hasFlag(flags[cell]!, LATE_FLAG)) {
      context.fillStyle = late
      context.beginPath()
      context.moveTo(x - 4, height)
      context.lineTo(x + 1, height - 7)
      context.lineTo(x + 6, height)
      context.fill()
    }
  })
  context.fillStyle = colorOf('muted')
  for (const place of marks.snapshots) {
    const x = Math.min(width - 8, Math.round(place * width))
    context.fillRect(x, height - 14, 1, 14)
    context.fillRect(x, height - 14, 7, 5)
  }
  let last = Number.NEGATIVE_INFINITY
  for (const place of marks.life) {
    const x = Math.round(place * width)
    if (x === last) continue
    // Dots that would cover each other become a line.
    if (x - last < APART) {
      context.fillStyle = colorOf('stuck')
      context.fillRect(last, height / 2 - 2, x - last, 4)
    } else {
      dot(context, x, height / 2, 5, colorOf('bg'))
      dot(context, x, height / 2, 3.5, colorOf('stuck'))
    }
    last = x
  }
  const mark = (at: number, color: string): void => {
    const x = lineAt(at, width)
    context.fillStyle = colorOf('bg')
    context.fillRect(x - 1, 0, LINE + 2, height)
    context.fillStyle = color
    context.fillRect(x, 0, LINE, height)
    // What is taken hold of is whole at either end, too; the line stays where the bars below have theirs.
    const grip = Math.min(width - HANDLE, Math.max(0, x + LINE / 2 - HANDLE / 2))
    context.beginPath()
    context.roundRect(grip, height / 2 - 8, HANDLE, 16, 3)
    context.fill()
  }
  if (marks.pinned !== undefined) mark(marks.pinned * width, colorOf('stuck'))
  mark(now, colorOf('ink'))
}

function dot(context: CanvasRenderingContext2D, x: number, y: number, radius: number, color: string): void {
  context.fillStyle = color
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fill()
}
