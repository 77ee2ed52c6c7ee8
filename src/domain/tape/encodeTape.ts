// A recorded log as the bytes of a tape: "NTAP", the length of the head (u32), the head as JSON, padded with spaces, then
// the columns it lists, each at a multiple of 8. All numbers little-endian. docs/console.md tells the same.
import { coarseColumns, rowsOf } from './coarseTape.js'
import type { GrowingColumn } from './growingColumn.js'
import { type Column, columnOf, pack, type TapeWindow, typeOf } from './tapeColumns.js'
import { type ColumnType, LATE_FLAG, SPAN_KINDS, TAPE_FORMAT, type TapeHead } from './tapeFormat.js'
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
const KEYS_AT_ONCE = 1_000

/** `make` gives the bytes to write into, all zero. */
export function encodeTape(
  tape: TapeRecorder,
  piece: TapePiece,
  make: (length: number) => Uint8Array<ArrayBuffer> = (length) => new Uint8Array(length),
): Uint8Array<ArrayBuffer> {
  const from = Math.max(1, piece.from)
  const to = Math.min(tape.length, piece.to)
  const inPiece = spansBetween(tape, from, to)
  const isLong = inPiece.length > FULL_SPANS_MAX || to - from + 1 > FULL_EVENTS_MAX
  const level = piece.level === 'auto' ? (isLong ? 'coarse' : 'full') : piece.level
  const window = { from, to, ...extentOf(tape.times, from, to), inPiece }
  const rows = level === 'coarse' ? rowsOf(tape, inPiece) : []
  const columns = level === 'full' ? fullColumns(tape, piece, window) : coarseColumns(tape, window, rows)
  const names = (list: readonly string[]): string[] => list.map((name) => (name === '' ? '' : piece.clean(name)))
  const head: TapeHead = {
    format: TAPE_FORMAT,
    execution_id: piece.executionId,
    epoch: piece.epoch,
    level,
    total: piece.total,
    built: tape.length,
    from,
    to,
    base_ms: window.baseMs,
    types: names(tape.types.names),
    steps: names(tape.steps.names),
    statuses: names(tape.statuses.names),
    workers: names(tape.workers.names),
    pools: names(tape.pools.names),
    span_total: tape.spanCount,
    rows,
    columns: [],
  }
  return pack(columns, head, make)
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

function fullColumns(tape: TapeRecorder, { clean }: TapePiece, window: TapeWindow): Column[] {
  const { from, to, inPiece } = window
  const { events, spans } = tape
  const ofEvents = (name: string, column: GrowingColumn, type?: ColumnType): Column => ({
    name,
    type: type ?? typeOf(column.width(from - 1, to)),
    length: Math.max(0, to - from + 1),
    write: (into) => column.copy(into, from - 1, to),
  })
  const ofSpans = (name: string, column: GrowingColumn, type?: ColumnType): Column => ({
    name,
    type: type ?? typeOf(column.width(0, column.length)),
    length: inPiece.length,
    write: (into) => {
      for (let index = 0; index < inPiece.length; index++) into[index] = column.get(inPiece[index]!)
    },
  })
  const flags = ofEvents('flags', events.flags, 'u8')
  const first = firstSpans(tape, inPiece)
  const numbers = first.map((span) => spans.key.get(span))
  return [
    ofEvents('type', events.type),
    ofEvents('step', events.step),
    ofEvents('status', events.status),
    ofEvents('worker', events.worker),
    {
      ...flags,
      write: (into) => {
        flags.write(into)
        for (const place of latePlaces(tape)) if (place >= from && place <= to) into[place - from]! |= LATE_FLAG
      },
    },
    timesOf(tape, window),
    ofEvents('version', events.version, 'u32'),
    ofEvents('span', events.span),
    ofSpans('span_kind', spans.kind, 'u8'),
    ofSpans('span_key', spans.key),
    ofSpans('span_row', spans.row),
    ofSpans('span_parent', spans.parent),
    ofSpans('span_pool', spans.pool),
    ofSpans('span_issued', spans.issued, 'u32'),
    ofSpans('span_claimed', spans.claimed, 'u32'),
    ofSpans('span_started', spans.started, 'u32'),
    ofSpans('span_ended', spans.ended, 'u32'),
    ofSpans('span_outcome', spans.outcome, 'u8'),
    keysOf(tape, first, clean),
    // A piece from the beginning has all of them up to its end, in order.
    ...(from === 1 ? [] : [columnOf('span_number', 'u32', inPiece), columnOf('key_number', 'u32', numbers)]),
  ]
}

/** Whole milliseconds: a screen shows no less. */
function timesOf({ times }: TapeRecorder, { from, to, baseMs, lastMs }: TapeWindow): Column {
  return {
    name: 'time',
    type: lastMs - baseMs < 2 ** 32 ? 'u32' : 'f64',
    length: Math.max(0, to - from + 1),
    write: (into) => {
      for (let place = from; place <= to; place++) into[place - from] = Math.floor(times.get(place - 1)) - baseMs
    },
  }
}

/** Of these spans the first of each entity. */
function firstSpans({ spans, keys }: TapeRecorder, inPiece: Uint32Array): Uint32Array {
  const isKnown = new Uint8Array(keys.length)
  return inPiece.filter((span) => {
    const key = spans.key.get(span)
    const isFirst = isKnown[key] === 0
    isKnown[key] = 1
    return isFirst
  })
}

/** Their text is only read where a name is shown, so it is no part of the head. */
function keysOf({ spans, keys }: TapeRecorder, first: Uint32Array, clean: TapePiece['clean']): Column {
  const encoder = new TextEncoder()
  const texts: Uint8Array[] = []
  for (let from = 0; from < first.length; from += KEYS_AT_ONCE) {
    const some = Array.from(
      first.subarray(from, from + KEYS_AT_ONCE),
      (span) => `${SPAN_KINDS[spans.kind.get(span)]}:${clean(keys[spans.key.get(span)]!)}`,
    )
    texts.push(encoder.encode(`${from === 0 ? '[' : ','}${JSON.stringify(some).slice(1, -1)}`))
  }
  texts.push(encoder.encode(first.length === 0 ? '[]' : ']'))
  return {
    name: 'keys',
    type: 'u8',
    length: texts.reduce((sum, { length }) => sum + length, 0),
    write: (into) => {
      let at = 0
      for (const text of texts) {
        into.set(text, at)
        at += text.length
      }
    },
  }
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

/** Whole milliseconds of the earliest and the latest. */
function extentOf(times: GrowingColumn, from: number, to: number): { baseMs: number; lastMs: number } {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
  for (let index = from - 1; index < to; index++) {
    const time = times.get(index)
    if (time < lowest) lowest = time
    if (time > highest) highest = time
  }
  return { baseMs: lowest === Number.POSITIVE_INFINITY ? 0 : Math.floor(lowest), lastMs: Math.floor(highest) }
}
