// Output → text: cli-table3 tables for people, one JSON document for programs.
import Table from 'cli-table3'
import colors from 'picocolors'
import { writeJsonPretty } from '../domain/json/write.js'
import type { Block, Cell, Output, Tone, ToneCell } from './output.js'

export interface RenderOptions {
  json: boolean
  color: boolean
  /** Width of the terminal; undefined in a pipe, where nothing is ever cut. */
  width: number | undefined
}

export function render(output: Output, options: RenderOptions): string {
  if (options.json) return `${writeJsonPretty(output.json)}\n`
  const paint = colors.createColors(options.color)
  return output.blocks.map((block) => `${renderBlock(block, options, paint)}\n`).join('\n')
}

type Paint = ReturnType<typeof colors.createColors>

function renderBlock(block: Block, options: RenderOptions, paint: Paint): string {
  if (block.kind === 'text') return block.text
  const title = block.title === undefined ? '' : `${paint.bold(block.title)}\n`
  if (block.kind === 'record') {
    const width = Math.max(0, ...block.entries.map(([name]) => name.length))
    return (
      title +
      block.entries.map(([name, value]) => `  ${paint.dim(name.padEnd(width))}  ${showCell(value, paint)}`).join('\n')
    )
  }
  if (block.rows.length === 0) return `${title}  ${block.empty ?? 'nothing'}`
  const rows = block.rows.map((row) => row.map((cell) => ({ text: plainText(cell), cell })))
  const widths = columnWidths(
    block.columns,
    rows.map((row) => row.map(({ text }) => text)),
    options.width,
  )
  const table = new Table({
    head: block.columns.map((name) => paint.bold(name)),
    colWidths: widths.map((width) => width + 2),
    wordWrap: true,
    wrapOnWordBoundary: false,
    style: { head: [], border: options.color ? ['grey'] : [], compact: true },
  })
  for (const row of rows) table.push(row.map(({ cell }) => showCell(cell, paint)))
  return title + table.toString()
}

function plainText(cell: Cell | ToneCell): string {
  if (cell === null || cell === undefined) return ''
  return typeof cell === 'object' ? cell.text : String(cell)
}

function showCell(cell: Cell | ToneCell, paint: Paint): string {
  const text = plainText(cell)
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

const COLUMN_MIN = 8

/** Natural widths; on a terminal that is too narrow the widest columns wrap first. */
function columnWidths(columns: readonly string[], rows: readonly string[][], width: number | undefined): number[] {
  const natural = columns.map((name, column) =>
    Math.max(
      name.length,
      ...rows.map((row) => Math.max(0, ...(row[column] ?? '').split('\n').map((line) => line.length))),
    ),
  )
  if (width === undefined) return natural
  const room = width - 1 - 3 * columns.length
  const result = [...natural]
  for (let excess = sum(result) - room; excess > 0; excess--) {
    const widest = result.indexOf(Math.max(...result))
    if (result[widest]! <= COLUMN_MIN) break
    result[widest]! -= 1
  }
  return result
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
