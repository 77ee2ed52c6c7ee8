// What recorder, writer and reader of a tape agree on. Runs in browsers, too: nothing here may ask for Node.

export const TAPE_MAGIC = 0x5041_544e // "NTAP"
export const TAPE_FORMAT = 3

/** What a span is. */
export const SPAN_KINDS = ['step', 'command', 'frame', 'stage', 'loop'] as const
export type SpanKind = (typeof SPAN_KINDS)[number]

/** How a span ended; 0 is not at all. */
export const OUTCOMES = ['open', 'completed', 'failed', 'cancelled'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Bits of the column `flags`. */
export const FAILED_FLAG = 1
/** It was stored after events with higher ids. */
export const LATE_FLAG = 2
/** It ended the execution. */
export const END_FLAG = 4

export const COARSE_BUCKETS = 2_048

/** The types of columns, by the arrays that hold them. */
export const COLUMN_ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array }
export type ColumnType = keyof typeof COLUMN_ARRAYS

export interface TapeHead {
  format: number
  execution_id: string
  /** Another one: places have moved, start over. */
  epoch: string
  level: 'full' | 'coarse'
  /** Events the log has, and how many of them are on the tape by now. */
  total: number
  built: number
  /** Places of the first and last event of this piece. */
  from: number
  to: number
  /** Milliseconds since 1970 of the number 0 in `time`. */
  base_ms: number
  /** Names by number; number 0 is none. */
  types: string[]
  steps: string[]
  statuses: string[]
  workers: string[]
  pools: string[]
  /** Spans of the whole tape, in this piece or not. */
  span_total: number
  /** Of level coarse: numbers of the steps that are rows, those with most spans first. */
  rows: number[]
  columns: { name: string; type: ColumnType; offset: number; length: number }[]
}

export type TapeColumn = Uint8Array | Uint16Array | Uint32Array | Float64Array

export interface Tape {
  head: TapeHead
  columns: Readonly<Record<string, TapeColumn>>
  /** Entities that have spans, such as `command:7`, by the numbers in `span_key`. Their text is read when it is first asked for. */
  keys(): readonly string[]
}
