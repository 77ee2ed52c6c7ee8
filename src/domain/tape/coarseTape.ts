// A long log in a glance: as many buckets as a screen is wide, with what happened in each.
import { type Column, columnOf, type TapeWindow } from './tapeColumns.js'
import { COARSE_BUCKETS, FAILED_FLAG } from './tapeFormat.js'
import type { TapeRecorder } from './tapeRecorder.js'

const ROWS_MAX = 200
const U16_MAX = 65_535

/** Buckets of as many events each; per row and bucket how many spans began, were completed, failed, were cancelled. */
export function coarseColumns(
  tape: TapeRecorder,
  { from, to, baseMs, inPiece }: TapeWindow,
  rows: readonly number[],
): Column[] {
  const count = Math.max(0, to - from + 1)
  const buckets = Math.min(COARSE_BUCKETS, count)
  const width = count / Math.max(1, buckets)
  const bucketOf = (place: number): number => Math.min(buckets - 1, Math.floor((place - from) / width))
  const starts = Array.from({ length: buckets }, (_, index) => from + Math.ceil(index * width))
  const failed = new Uint32Array(buckets)
  for (let place = from; place <= to; place++) {
    if ((tape.events.flags.get(place - 1) & FAILED_FLAG) !== 0) failed[bucketOf(place)]!++
  }
  const cells = Array.from({ length: 4 }, () => new Uint16Array(rows.length * buckets))
  const rowOf = new Map(rows.map((row, index) => [row, index]))
  const tally = (kind: number, row: number, place: number): void => {
    if (place < from || place > to) return
    const at = row * buckets + bucketOf(place)
    const column = cells[kind]!
    if (column[at]! < U16_MAX) column[at]!++
  }
  for (const span of inPiece) {
    const row = rowOf.get(tape.spans.row.get(span))
    if (row === undefined) continue
    tally(0, row, tape.spans.issued.get(span))
    if (tape.spans.ended.get(span) !== 0) tally(tape.spans.outcome.get(span), row, tape.spans.ended.get(span))
  }
  return [
    columnOf('bucket_from', 'u32', starts),
    columnOf(
      'bucket_time',
      'f64',
      starts.map((place) => tape.times.get(place - 1) - baseMs),
    ),
    columnOf('bucket_failed', 'u32', failed),
    columnOf('row_begun', 'u16', cells[0]!),
    columnOf('row_completed', 'u16', cells[1]!),
    columnOf('row_failed', 'u16', cells[2]!),
    columnOf('row_cancelled', 'u16', cells[3]!),
  ]
}

export function rowsOf(tape: TapeRecorder, inPiece: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const span of inPiece) {
    const row = tape.spans.row.get(span)
    if (row !== 0) counts.set(row, (counts.get(row) ?? 0) + 1)
  }
  return [...counts]
    .sort(([left, a], [right, b]) => b - a || left - right)
    .slice(0, ROWS_MAX)
    .map(([row]) => row)
}
