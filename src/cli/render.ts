// Output → text: cli-table3 tables for people, one JSON document for programs. Every cell, title and line passes the
// filter for terminals here.
import Table from 'cli-table3'
import colors from 'picocolors'
import { writeJsonPretty } from '../domain/json/write.js'
import { printable, printableJson } from '../runtime/printable.js'
import type { Block, Cell, Output, Tone, ToneCell } from './output.js'
import { layoutTable, wrapWords } from './tableLayout.js'
import { padEndTo, textWidth } from './textWidth.js'

export interface RenderOptions {
  json: boolean
  color: boolean
  /** Width of the terminal; undefined in a pipe, where nothing is ever cut. */
  width: number | undefined
  /** Tells times of today from others. */
  nowMs: number
}

export function render(output: Output, options: RenderOptions): string {
  if (options.json) return `${printableJson(writeJsonPretty(output.json))}\n`
  const paint = colors.createColors(options.color)
  return output.blocks.map((block) => `${renderBlock(block, options, paint)}\n`).join('\n')
}

type Paint = ReturnType<typeof colors.createColors>

function renderBlock(block: Block, options: RenderOptions, paint: Paint): string {
  if (block.kind === 'text') return printable(block.text)
  if (block.kind === 'lines') return block.lines.map(printable).join('\n')
  const title = block.title === undefined ? '' : `${paint.bold(printable(block.title))}\n`
  if (block.kind === 'record') return title + renderRecord(block.entries, options.width, paint)
  if (block.rows.length === 0) return `${title}  ${printable(block.empty ?? 'nothing')}`
  const table = { columns: block.columns.map(printable), rows: block.rows.map((row) => row.map(plainText)) }
  const terminal = options.width === undefined ? undefined : { width: options.width, nowMs: options.nowMs }
  const { shown, widths, head, rows, gap } = layoutTable(
    { ...table, isProse: block.isProse ?? false, spare: block.spare ?? [] },
    terminal,
  )
  // Broken first and painted line by line: a colour that spans two lines of a cell would spill into the next column.
  const painted = {
    head: head.map((lines) => lines.map((line) => paint.bold(line))),
    rows: rows.map((row, at) =>
      row.map((lines, column) => lines.map((line) => tinted(line, block.rows[at]![shown[column]!], paint))),
    ),
  }
  if (gap === undefined) return title + bordered(painted.head, painted.rows, widths, options.color)
  const bare = [
    rowLines(head, painted.head, widths, gap),
    ...rows.map((row, at) => rowLines(row, painted.rows[at]!, widths, gap)),
  ]
  return title + bare.flat().join('\n')
}

type Lines = readonly string[]

function bordered(head: readonly Lines[], rows: readonly Lines[][], widths: readonly number[], color: boolean): string {
  const table = new Table({
    head: head.map((lines) => lines.join('\n')),
    colWidths: widths.map((width) => width + 2),
    style: { head: [], border: color ? ['grey'] : [], compact: true },
  })
  for (const row of rows) table.push(row.map((lines) => lines.join('\n')))
  return table.toString()
}

/** One row without borders: its cells side by side, as many lines as its longest cell. */
function rowLines(
  plain: readonly Lines[],
  painted: readonly Lines[],
  widths: readonly number[],
  gap: number,
): string[] {
  const height = Math.max(...plain.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    plain
      .map(
        (lines, column) => (painted[column]![line] ?? '') + ' '.repeat(widths[column]! - textWidth(lines[line] ?? '')),
      )
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

function renderRecord(
  entries: readonly (readonly [string, Cell | ToneCell])[],
  width: number | undefined,
  paint: Paint,
): string {
  const names = Math.max(0, ...entries.map(([name]) => textWidth(printable(name))))
  const indent = names + 4
  return entries
    .map(([name, value]) => {
      const text = plainText(value)
      const lines = width === undefined ? [text] : wrapWords(text, Math.max(20, width - indent))
      const shown = lines.map((line) => tinted(line, value, paint)).join(`\n${' '.repeat(indent)}`)
      return `  ${paint.dim(padEndTo(printable(name), names))}  ${shown}`
    })
    .join('\n')
}

function plainText(cell: Cell | ToneCell): string {
  if (cell === null || cell === undefined) return ''
  return printable(typeof cell === 'object' ? cell.text : String(cell))
}

function tinted(text: string, cell: Cell | ToneCell, paint: Paint): string {
  return typeof cell === 'object' && cell !== null ? tint(text, cell.tone, paint) : text
}

function tint(text: string, tone: Tone, paint: Paint): string {
  switch (tone) {
    case 'good':
      return paint.green(text)
    case 'bad':
      return paint.red(text)
    case 'warn':
      return paint.yellow(text)
    case 'dim':
      return paint.dim(text)
  }
}
