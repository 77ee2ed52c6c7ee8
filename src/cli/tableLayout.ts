// How wide the columns of a table may be, and where its cells break. Plain text only: colour comes afterwards, line by
// line, so that no escape sequence is ever counted or cut.

export interface Layout {
  widths: number[]
  /** Spaces between columns; undefined with borders, which a narrow terminal has no room for. */
  gap: number | undefined
}

// Of a border: a line and a space on each side.
const BORDER = 3
// Between columns without borders; the second one when even that is too much.
const GAPS = [2, 1]
const HARD_MIN = 6
// A time may go on in the next line after its date, a name after one of its joints.
const CHUNKS = /\d{4}-\d\d-\d\dT|\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:\d\d)?|[^\s./_:,-]+[./_:,-]*|[./_:,-]+|\s+/g
const ID = /^\d{12,}$/

export function layoutTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): Layout {
  const cells = columns.map((name, column) => [name, ...rows.map((row) => row[column] ?? '')])
  const natural = cells.map((texts) => longest(texts.flatMap((text) => text.split('\n'))))
  if (width === undefined) return { widths: natural, gap: undefined }
  const soft = cells.map((texts) => longest(texts.flatMap((text) => text.match(CHUNKS) ?? [])))
  for (const gap of [undefined, ...GAPS]) {
    const room = roomFor(columns.length, width, gap)
    const widths = shrink(natural, soft, room)
    if (sum(widths) <= room) return { widths, gap }
  }
  // Ids are there to be copied: everything else breaks before they do.
  const hard = cells.map((texts, column) => (texts.some((text) => ID.test(text)) ? soft[column]! : HARD_MIN))
  const gap = GAPS.at(-1)!
  return { widths: shrink(natural, hard, roomFor(columns.length, width, gap)), gap }
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

/** Lines of at most this length: broken after spaces and the joints of names, else wherever it must be. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (line.length <= width ? [line] : wrapLine(line, width)))
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const chunk of line.match(CHUNKS) ?? []) {
    let rest = chunk
    if (current.length + rest.trimEnd().length > width && current !== '') {
      lines.push(current.trimEnd())
      current = ''
      rest = rest.trimStart()
    }
    while (rest.length > width) {
      lines.push(rest.slice(0, width))
      rest = rest.slice(width)
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
      if (current !== '' && current.length + 1 + word.length > width) {
        lines.push(current)
        current = word
      } else current = current === '' ? word : `${current} ${word}`
    }
    return [...lines, current]
  })
}

function longest(texts: readonly string[]): number {
  let most = 0
  for (const text of texts) most = Math.max(most, text.length)
  return most
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
