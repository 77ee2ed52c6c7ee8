// How wide the columns of a table may be, and where its cells end or break. Plain text only: colour comes afterwards, line
// by line, so that no escape sequence is ever counted or cut.
import { clockTime, millisecondTime } from './tableTime.js'
import { beginningOf, cutText, textWidth } from './textWidth.js'

export interface TableText {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  /** Rows are sentences: they break into lines instead of being cut. */
  isProse: boolean
  /** Columns that are left out where there is no room for all, in this order. */
  spare: readonly string[]
}

export interface Layout {
  /** Which columns are shown: on a terminal those that hold something. */
  shown: number[]
  widths: number[]
  /** Lines of each cell. */
  head: string[][]
  rows: string[][][]
  /** Spaces between columns; undefined with borders, which a narrow terminal has no room for. */
  gap: number | undefined
}

export interface Terminal {
  width: number
  nowMs: number
}

// Of a border: a line and a space on each side.
const BORDER = 3
// Between columns without borders; the second one when even that is too much.
const GAPS = [2, 1]
const HARD_MIN = 5
// A time may go on in the next line after its date, a name after one of its joints.
const CHUNKS = /\d{4}-\d\d-\d\dT|\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:\d\d)?|[^\s./_:,-]+[./_:,-]*|[./_:,-]+|\s+/g
const ID = /^\d{12,}$/

export function layoutTable(table: TableText, terminal: Terminal | undefined): Layout {
  const all = [...table.columns.keys()]
  if (terminal === undefined) return whole(table, all, undefined)
  const filled = all.filter((column) => table.rows.some((row) => (row[column] ?? '') !== ''))
  const shown = filled.length === 0 ? all : filled
  const exact = withTimes(table, millisecondTime)
  const clock = withTimes(table, (text) => clockTime(text, terminal.nowMs))
  const candidates = [whole(exact, shown, undefined), whole(clock, shown, undefined), whole(clock, shown, GAPS[0])]
  const fits = ({ widths, gap }: Layout) => sum(widths) <= roomFor(widths.length, terminal.width, gap)
  const fitting = candidates.find(fits)
  if (fitting !== undefined) return fitting
  if (table.isProse) return broken(clock, shown, terminal.width)
  let kept = shown
  for (const name of table.spare) {
    kept = kept.filter((column) => table.columns[column] !== name)
    const narrower = whole(clock, kept, GAPS[0])
    if (fits(narrower)) return narrower
  }
  return cut(clock, kept, terminal.width)
}

function whole(table: TableText, shown: number[], gap: number | undefined): Layout {
  const cells = cellsOf(table, shown)
  return {
    shown,
    widths: cells.map(({ name, texts }) => longest([name, ...texts])),
    head: cells.map(({ name }) => name.split('\n')),
    rows: table.rows.map((row) => shown.map((column) => (row[column] ?? '').split('\n'))),
    gap,
  }
}

/** One line per row: what is too long is cut, ids never; names of columns break instead. */
function cut(table: TableText, shown: number[], width: number): Layout {
  const cells = cellsOf(table, shown)
  const natural = cells.map(({ name, texts }) => Math.max(longest(texts), longest(chunksOf(name))))
  const least = cells.map(({ texts }, at) => (texts.some((text) => ID.test(text)) ? natural[at]! : HARD_MIN))
  const { widths, gap } = shrinkToFit(natural, least, width)
  return {
    shown,
    widths,
    head: cells.map(({ name }, at) => wrapText(name, widths[at]!)),
    rows: table.rows.map((row) => shown.map((column, at) => [cutText(row[column] ?? '', widths[at]!)])),
    gap,
  }
}

/** Everything is there, in as many lines as it takes. */
function broken(table: TableText, shown: number[], width: number): Layout {
  const cells = cellsOf(table, shown)
  const natural = cells.map(({ name, texts }) => longest([name, ...texts]))
  const soft = cells.map(({ name, texts }) => longest([name, ...texts].flatMap(chunksOf)))
  const hard = cells.map(({ texts }, at) => (texts.some((text) => ID.test(text)) ? soft[at]! : HARD_MIN))
  const softly = shrinkToFit(natural, soft, width)
  const { widths, gap } = softly.fits ? softly : shrinkToFit(natural, hard, width)
  return {
    shown,
    widths,
    head: cells.map(({ name }, at) => wrapText(name, widths[at]!)),
    rows: table.rows.map((row) => shown.map((column, at) => wrapText(row[column] ?? '', widths[at]!))),
    gap,
  }
}

function cellsOf({ columns, rows }: TableText, shown: readonly number[]): { name: string; texts: string[] }[] {
  return shown.map((column) => ({ name: columns[column]!, texts: rows.map((row) => row[column] ?? '') }))
}

function withTimes(table: TableText, shorten: (text: string) => string): TableText {
  return { ...table, rows: table.rows.map((row) => row.map(shorten)) }
}

function shrinkToFit(natural: readonly number[], least: readonly number[], width: number) {
  for (const gap of GAPS) {
    const room = roomFor(natural.length, width, gap)
    const widths = shrink(natural, least, room)
    if (sum(widths) <= room) return { widths, gap, fits: true }
  }
  const gap = GAPS.at(-1)!
  return { widths: shrink(natural, least, roomFor(natural.length, width, gap)), gap, fits: false }
}

function roomFor(columns: number, width: number, gap: number | undefined): number {
  return gap === undefined ? width - 1 - BORDER * columns : width - gap * (columns - 1)
}

/** The widest first, none below its least. */
function shrink(natural: readonly number[], least: readonly number[], room: number): number[] {
  const widths = [...natural]
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    let widest = -1
    for (const [column, width] of widths.entries()) {
      if (width > least[column]! && (widest < 0 || width > widths[widest]!)) widest = column
    }
    if (widest < 0) break
    widths[widest]! -= 1
  }
  return widths
}

/** Lines of at most this width: broken after spaces and the joints of names, else wherever it must be. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (textWidth(line) <= width ? [line] : wrapLine(line, width)))
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const chunk of chunksOf(line)) {
    let rest = chunk
    if (textWidth(current) + textWidth(rest.trimEnd()) > width && current !== '') {
      lines.push(current.trimEnd())
      current = ''
      rest = rest.trimStart()
    }
    while (textWidth(rest) > width) {
      const first = beginningOf(rest, width)
      lines.push(first)
      rest = rest.slice(first.length)
    }
    current += rest
  }
  return current.trim() === '' ? lines : [...lines, current.trimEnd()]
}

/** Sentences: broken between words alone. A word that is too long stays whole, to be copied. */
export function wrapWords(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    let current = ''
    for (const word of line.split(' ')) {
      if (current !== '' && textWidth(current) + 1 + textWidth(word) > width) {
        lines.push(current)
        current = word
      } else current = current === '' ? word : `${current} ${word}`
    }
    return [...lines, current]
  })
}

function chunksOf(text: string): string[] {
  return text.match(CHUNKS) ?? []
}

function longest(texts: readonly string[]): number {
  let most = 0
  for (const text of texts) for (const line of text.split('\n')) most = Math.max(most, textWidth(line))
  return most
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
