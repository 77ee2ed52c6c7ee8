// Paints the rows of the timeline that are in sight. A bar is thin and dotted while it waits and full while it works; what comes after
// the handle is faint. Bars of a row that touch and look the same become one, so ten thousand cost no more than what can
// be told apart, and the worst is painted last.
import { colorOf } from '../../lib/theme'
import type { Axis, View } from './axis'
import { LINE, lineAt } from './cursorLine'
import type { RunTape, TimelineRow } from './tape'
import type { Pen } from './useCanvas'

export const ROW = 26

export interface Scene {
  run: RunTape
  rows: readonly TimelineRow[]
  axis: Axis
  view: View
  position: number
  pinned: number | undefined
  /** Pixels scrolled away above. */
  top: number
  /** The number of the entity that was chosen: its bars are underlined. */
  chosen: number | undefined
  /** Counts seconds while something is at work: the edge of such a bar moves. */
  beat: number
}

/** From the least to the worst: the later ones are painted over the earlier ones. */
const LOOKS = [
  { name: 'later wait', color: 'faint', tall: 4 },
  { name: 'later', color: 'line', tall: 14 },
  { name: 'waited', color: 'muted', tall: 2 },
  { name: 'cancelled', color: 'cancelled', tall: 14 },
  { name: 'completed', color: 'completed', tall: 14 },
  { name: 'waiting', color: 'waiting', tall: 4 },
  { name: 'running', color: 'running', tall: 14 },
  { name: 'failed', color: 'failed', tall: 14 },
] as const
const [LATER_WAIT, LATER, WAITED, CANCELLED, COMPLETED, WAITING, RUNNING, FAILED] = [0, 1, 2, 3, 4, 5, 6, 7] as const
/** By the numbers of the tape, where 0 is open. */
const OF_OUTCOME = [RUNNING, COMPLETED, FAILED, CANCELLED]
const NARROWEST = 3
/** From here on there is room for a gap to the next bar, and for a mark that says the same as the colour. */
const ROOMY = 10
/** And of the gap after it: what waits is dotted. */
const DOT = 3
/** From the end of its bar, second by second. */
const EDGES = [11, 7, 3] as const

type Mark = (wide: number, tall: number, beat: number) => { x: number; y: number; wide: number; tall: number }
/** What is left out of a bar, so that it says the same without its colour: an edge that moves, a notch, all but the outline. */
const MARKS: Readonly<Record<string, Mark>> = {
  running: (wide, tall, beat) => ({ x: Math.max(2, wide - EDGES[beat % EDGES.length]!), y: 0, wide: 2, tall }),
  failed: (wide, tall) => ({ x: wide - 6, y: 4, wide: 3, tall: tall - 8 }),
  cancelled: (wide, tall) => ({ x: 2, y: 2, wide: wide - 4, tall: tall - 4 }),
}

export function drawBars({ context, width, height }: Pen, scene: Scene): void {
  const { run, rows, axis, view, position, top } = scene
  const { xOf, startOf } = placesOf(axis, view, width)
  const now = xOf(position)
  context.fillStyle = colorOf('bg')
  context.fillRect(0, 0, width, height)
  const bars = LOOKS.map((): number[] => [])
  const marked: number[] = []
  const first = Math.floor(top / ROW)
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW))
  context.fillStyle = colorOf('faint')
  for (let row = first; row < last; row++) {
    const y = row * ROW - top
    context.fillRect(0, y + ROW - 1, width, 1)
    const reach = { xOf, startOf, now, width, position }
    collectRow(run, rows[row]!, y, reach, bars)
    if (scene.chosen !== undefined) collectChosen(run, rows[row]!, y, reach, scene.chosen, marked)
  }
  LOOKS.forEach(({ name, color, tall }, look) => {
    context.fillStyle = colorOf(color)
    const list = bars[look]!
    for (let at = 0; at < list.length; at += 3) {
      // Whole pixels: what is painted over must not shine through at the edges.
      const y = list[at]! + ((ROW - tall) >> 1)
      const [left, right] = [Math.round(list[at + 1]!), Math.round(list[at + 2]!)]
      const wide = right - left >= ROOMY ? right - left - 1 : Math.max(NARROWEST, right - left)
      if (name === 'waiting') {
        for (let x = 0; x < wide; x += 2 * DOT) context.fillRect(left + x, y, Math.min(DOT, wide - x), tall)
        continue
      }
      context.fillRect(left, y, wide, tall)
      const mark = wide < ROOMY ? undefined : MARKS[name]?.(wide, tall, scene.beat)
      if (mark === undefined) continue
      context.fillStyle = colorOf('bg')
      context.fillRect(left + mark.x, y + mark.y, mark.wide, mark.tall)
      context.fillStyle = colorOf(color)
    }
  })
  context.fillStyle = colorOf('ink')
  for (let at = 0; at < marked.length; at += 3) {
    const left = Math.round(marked[at + 1]!)
    context.fillRect(left, marked[at]! + ROW - 4, Math.max(NARROWEST, Math.round(marked[at + 2]!) - left), 2)
  }
  const line = (x: number, color: string): void => {
    if (x < 0 || x > width) return
    context.fillStyle = colorOf(color)
    context.fillRect(lineAt(x, width), 0, LINE, height)
  }
  if (scene.pinned !== undefined) line(xOf(Math.min(run.length, scene.pinned)), 'stuck')
  line(now, 'ink')
}

interface Reach extends Places {
  now: number
  width: number
  position: number
}

export interface Places {
  /** From a position of the log to a place on the screen. */
  xOf: (position: number) => number
  /** Where a bar begins that begins with the event of this position. */
  startOf: (position: number) => number
}

export function placesOf({ fractions, lead }: Axis, { from, to }: View, width: number): Places {
  const scale = width / (to - from)
  const xOf = (position: number): number => (fractions[position]! - from) * scale
  return { xOf, startOf: (position) => xOf(position - lead) }
}

/** Adds y, left and right of each bar of a row to the list of its look. */
function collectRow(run: RunTape, row: TimelineRow, y: number, reach: Reach, bars: readonly number[][]): void {
  const { xOf, startOf, now, width, position } = reach
  const { issued, begun, ended, outcome } = run.marks
  const lefts = new Float64Array(LOOKS.length).fill(Number.NaN)
  const rights = new Float64Array(LOOKS.length)
  const flush = (look: number): void => {
    if (!Number.isNaN(lefts[look])) bars[look]!.push(y, lefts[look]!, rights[look]!)
  }
  const add = (look: number, from: number, to: number): void => {
    if (to < from) return
    const left = Math.max(-NARROWEST, from)
    const right = Math.min(width, to)
    const isTouching = left >= lefts[look]! && left <= rights[look]! + (right - left < ROOMY ? 1 : -1)
    if (isTouching) {
      if (right > rights[look]!) rights[look] = right
      return
    }
    flush(look)
    lefts[look] = left
    rights[look] = right
  }
  for (const span of row.spans) {
    const left = startOf(issued[span]!)
    // They are in the order in which they begin.
    if (left > width) break
    const end = ended[span]!
    const right = xOf(end || run.length)
    if (right < 0) continue
    const begin = begun[span]!
    const work = begin === 0 ? right : startOf(begin)
    const isLater = issued[span]! > position
    if (right > now || isLater) {
      if (work > now) add(LATER_WAIT, Math.max(left, now), work)
      if (work < right || isLater) add(LATER, Math.max(work, now), right)
      if (isLater) continue
    }
    if (end !== 0 && end <= position) {
      // What ended without a start is shown by its end.
      const from = begin === 0 ? Math.max(left, right - ROOMY) : work
      if (from > left) add(WAITED, left, Math.min(from, now))
      add(OF_OUTCOME[outcome[span]!]!, from, Math.min(right, Math.max(now, from)))
    } else if (begin !== 0 && begin <= position) {
      if (work > left) add(WAITED, left, Math.min(work, now))
      add(RUNNING, work, Math.min(right, Math.max(now, work)))
    } else if (work > left) add(WAITING, left, Math.min(work, now))
  }
  for (let look = 0; look < LOOKS.length; look++) flush(look)
}

/** The same of the bars of one entity, where there is one in sight. */
function collectChosen(
  run: RunTape,
  row: TimelineRow,
  y: number,
  { xOf, startOf, width }: Reach,
  chosen: number,
  marked: number[],
): void {
  const { issued, ended } = run.marks
  const keys = run.tape.columns['span_key']!
  for (const span of row.spans) {
    if (keys[span] !== chosen) continue
    const [left, right] = [startOf(issued[span]!), xOf(ended[span]! || run.length)]
    if (right >= 0 && left <= width) marked.push(y, Math.max(0, left), Math.min(width, right))
  }
}

export function isInView(
  { tape, length }: RunTape,
  { fractions, lead }: Axis,
  { from, to }: View,
  span: number,
): boolean {
  const { span_issued: issued, span_ended: ended } = tape.columns
  return fractions[issued![span]! - lead]! <= to && fractions[ended![span]! || length]! >= from
}

/** The span of a row at a place of the screen, the one that began last. */
export function spanAt({ run, axis }: Scene, row: TimelineRow, fraction: number, slack: number): number | undefined {
  const near = { from: fraction - slack, to: fraction + slack }
  return row.spans.findLast((span) => isInView(run, axis, near, span))
}
