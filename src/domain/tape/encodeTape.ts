// A recorded log as the bytes of a tape: "NTAP", the length of the head (u32), the head as JSON, padded with spaces, then
// the columns it lists, each at a multiple of 8. All numbers little-endian. docs/console.md tells the same.
import type { GrowingColumn } from './growingColumn.js'
import {
  COARSE_BUCKETS,
  type ColumnType,
  LATE_FLAG,
  SPAN_KINDS,
  TAPE_FORMAT,
  TAPE_MAGIC,
  type TapeHead,
} from './tapeFormat.js'
import type { TapeRecorder } from './tapeRecorder.js'

export interface TapePiece {
  executionId: string
  epoch: string
  total: number
  level: 'auto' | 'full' | 'coarse'
  /** Places, both inclusive. */
  from: number
  to: number
  /** Takes secrets out of a name. */
  clean(name: string): string
}

const FULL_SPANS_MAX = 20_000
const FULL_EVENTS_MAX = 200_000
const ROWS_MAX = 200
const U16_MAX = 65_535
const START = 8

type Column = { name: string; type: ColumnType; values: ArrayLike<number> }

export function encodeTape(tape: TapeRecorder, piece: TapePiece): Uint8Array {
  const from = Math.max(1, piece.from)
  const to = Math.min(tape.length, piece.to)
  const inPiece = spansBetween(tape, from, to)
  const isLong = inPiece.length > FULL_SPANS_MAX || to - from + 1 > FULL_EVENTS_MAX
  const level = piece.level === 'auto' ? (isLong ? 'coarse' : 'full') : piece.level
  const baseMs = lowest(tape.times, from, to)
  const rows = level === 'coarse' ? rowsOf(tape, inPiece) : []
  const columns =
    level === 'full'
      ? fullColumns(tape, piece, { from, to, baseMs, inPiece })
      : coarseColumns(tape, { from, to, baseMs, inPiece }, rows)
  const names = (list: readonly string[]): string[] => list.map((name) => (name === '' ? '' : piece.clean(name)))
  return pack(columns, {
    format: TAPE_FORMAT,
    execution_id: piece.executionId,
    epoch: piece.epoch,
    level,
    total: piece.total,
    built: tape.length,
    from,
    to,
    base_ms: baseMs,
    types: names(tape.types.names),
    steps: names(tape.steps.names),
    statuses: names(tape.statuses.names),
    workers: names(tape.workers.names),
    pools: names(tape.pools.names),
    span_total: tape.spanCount,
    rows,
    columns: [],
  })
}

interface Window {
  from: number
  to: number
  baseMs: number
  inPiece: Uint32Array
}

/** Numbers of the spans that are open at some place of the piece, or get a mark there. */
function spansBetween({ spans, spanCount }: TapeRecorder, from: number, to: number): Uint32Array {
  const { issued, claimed, started, ended } = spans
  const found = new Uint32Array(spanCount)
  let count = 0
  for (let span = 0; span < spanCount; span++) {
    const end = ended.get(span)
    const isIn = end === 0 || Math.max(end, claimed.get(span), started.get(span)) >= from
    if (isIn && issued.get(span) <= to) found[count++] = span
  }
  return found.subarray(0, count)
}

function fullColumns(tape: TapeRecorder, { clean }: TapePiece, { from, to, baseMs, inPiece }: Window): Column[] {
  const { events, spans } = tape
  const flags = Uint8Array.from(events.flags.slice(from - 1, to))
  for (const place of latePlaces(tape)) if (place >= from && place <= to) flags[place - from]! |= LATE_FLAG
  const ofEvents = (column: GrowingColumn): ArrayLike<number> => column.slice(from - 1, to)
  const ofSpans = (column: GrowingColumn): Uint32Array => inPiece.map((span) => column.get(span))
  const keys = keysOf(tape, inPiece, clean)
  return [
    narrow('type', ofEvents(events.type)),
    narrow('step', ofEvents(events.step)),
    narrow('status', ofEvents(events.status)),
    narrow('worker', ofEvents(events.worker)),
    { name: 'flags', type: 'u8', values: flags },
    timesOf(tape, from, to, baseMs),
    { name: 'version', type: 'u32', values: ofEvents(events.version) },
    narrow('span', ofEvents(events.span)),
    { name: 'span_kind', type: 'u8', values: ofSpans(spans.kind) },
    narrow('span_key', ofSpans(spans.key)),
    narrow('span_row', ofSpans(spans.row)),
    narrow('span_parent', ofSpans(spans.parent)),
    narrow('span_pool', ofSpans(spans.pool)),
    { name: 'span_issued', type: 'u32', values: ofSpans(spans.issued) },
    { name: 'span_claimed', type: 'u32', values: ofSpans(spans.claimed) },
    { name: 'span_started', type: 'u32', values: ofSpans(spans.started) },
    { name: 'span_ended', type: 'u32', values: ofSpans(spans.ended) },
    { name: 'span_outcome', type: 'u8', values: ofSpans(spans.outcome) },
    { name: 'keys', type: 'u8', values: keys.text },
    // A piece from the beginning has all of them up to its end, in order.
    ...(from === 1 ? [] : [narrow('span_number', inPiece), narrow('key_number', keys.numbers)]),
  ]
}

/** Whole milliseconds: a screen shows no less. */
function timesOf({ times }: TapeRecorder, from: number, to: number, baseMs: number): Column {
  const values = new Float64Array(Math.max(0, to - from + 1))
  let most = 0
  for (let index = 0; index < values.length; index++) {
    const ms = Math.floor(times.get(from - 1 + index)) - baseMs
    values[index] = ms
    if (ms > most) most = ms
  }
  return { name: 'time', type: most < 2 ** 32 ? 'u32' : 'f64', values }
}

/** Their text is only read where a name is shown, so it is no part of the head. */
function keysOf({ spans, keys }: TapeRecorder, inPiece: Uint32Array, clean: TapePiece['clean']) {
  const isKnown = new Uint8Array(keys.length)
  const numbers: number[] = []
  const texts: string[] = []
  for (const span of inPiece) {
    const key = spans.key.get(span)
    if (isKnown[key] === 1) continue
    isKnown[key] = 1
    numbers.push(key)
    texts.push(`${SPAN_KINDS[spans.kind.get(span)]}:${clean(keys[key]!)}`)
  }
  return { numbers, text: new TextEncoder().encode(JSON.stringify(texts)) }
}

/** Buckets of as many events each; per row and bucket how many spans began, were completed, failed, were cancelled. */
function coarseColumns(tape: TapeRecorder, { from, to, baseMs, inPiece }: Window, rows: readonly number[]): Column[] {
  const count = Math.max(0, to - from + 1)
  const buckets = Math.min(COARSE_BUCKETS, count)
  const width = count / Math.max(1, buckets)
  const bucketOf = (place: number): number => Math.min(buckets - 1, Math.floor((place - from) / width))
  const starts = Array.from({ length: buckets }, (_, index) => from + Math.ceil(index * width))
  const failed = new Uint32Array(buckets)
  for (let place = from; place <= to; place++) {
    if ((tape.events.flags.get(place - 1) & 1) !== 0) failed[bucketOf(place)]!++
  }
  const cells = Array.from({ length: 4 }, () => new Uint16Array(rows.length * buckets))
  const rowOf = new Map(rows.map((row, index) => [row, index]))
  const count1 = (kind: number, row: number, place: number): void => {
    if (place < from || place > to) return
    const at = row * buckets + bucketOf(place)
    const column = cells[kind]!
    if (column[at]! < U16_MAX) column[at]!++
  }
  for (const span of inPiece) {
    const row = rowOf.get(tape.spans.row.get(span))
    if (row === undefined) continue
    count1(0, row, tape.spans.issued.get(span))
    if (tape.spans.ended.get(span) !== 0) count1(tape.spans.outcome.get(span), row, tape.spans.ended.get(span))
  }
  return [
    { name: 'bucket_from', type: 'u32', values: starts },
    { name: 'bucket_time', type: 'f64', values: starts.map((place) => tape.times.get(place - 1) - baseMs) },
    { name: 'bucket_failed', type: 'u32', values: failed },
    { name: 'row_begun', type: 'u16', values: cells[0]! },
    { name: 'row_completed', type: 'u16', values: cells[1]! },
    { name: 'row_failed', type: 'u16', values: cells[2]! },
    { name: 'row_cancelled', type: 'u16', values: cells[3]! },
  ]
}

function rowsOf(tape: TapeRecorder, inPiece: Uint32Array): number[] {
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

/** Events that were stored after one with a higher id. */
function latePlaces({ events: { version }, length }: TapeRecorder): number[] {
  const late: number[] = []
  let lowestAfter = Number.POSITIVE_INFINITY
  for (let place = length; place > 0; place--) {
    const own = version.get(place - 1)
    if (own === 0) continue
    if (own > lowestAfter) late.push(place)
    else lowestAfter = own
  }
  return late
}

function lowest(times: GrowingColumn, from: number, to: number): number {
  let found = Number.POSITIVE_INFINITY
  for (let index = from - 1; index < to; index++) found = Math.min(found, times.get(index))
  return found === Number.POSITIVE_INFINITY ? 0 : Math.floor(found)
}

function narrow(name: string, values: ArrayLike<number>): Column {
  let most = 0
  for (let index = 0; index < values.length; index++) if (values[index]! > most) most = values[index]!
  return { name, type: most < 256 ? 'u8' : most <= U16_MAX ? 'u16' : 'u32', values }
}

const BYTES = { u8: 1, u16: 2, u32: 4, f64: 8 }
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array }

function pack(columns: readonly Column[], head: TapeHead): Uint8Array {
  let offset = 0
  for (const { name, type, values } of columns) {
    head.columns.push({ name, type, offset, length: values.length })
    offset += aligned(values.length * BYTES[type])
  }
  const text = new TextEncoder().encode(JSON.stringify(head))
  const start = aligned(START + text.length)
  const bytes = new Uint8Array(start + offset)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, TAPE_MAGIC, true)
  view.setUint32(4, start - START, true)
  bytes.fill(0x20, START, start)
  bytes.set(text, START)
  columns.forEach(({ type, values }, index) => {
    const place = start + head.columns[index]!.offset
    new ARRAYS[type](bytes.buffer, place, values.length).set(values)
  })
  return bytes
}

function aligned(length: number): number {
  return Math.ceil(length / 8) * 8
}
