// The columns of a tape, and how they become its bytes.
import { COLUMN_ARRAYS, type ColumnType, TAPE_MAGIC, type TapeColumn, type TapeHead } from './tapeFormat.js'

const START = 8

export interface TapeWindow {
  from: number
  to: number
  /** Of the earliest event and of the latest. */
  baseMs: number
  lastMs: number
  /** Numbers of its spans. */
  inPiece: Uint32Array
}

/** Written where it belongs in the tape, once it is known how long that is: copies on the way would be as large as the tape. */
export interface Column {
  name: string
  type: ColumnType
  length: number
  write(into: TapeColumn): void
}

export function columnOf(name: string, type: ColumnType, values: ArrayLike<number>): Column {
  return { name, type, length: values.length, write: (into) => into.set(values) }
}

/** By the bytes of each. */
export function typeOf(width: number): ColumnType {
  return width === 1 ? 'u8' : width === 2 ? 'u16' : width === 4 ? 'u32' : 'f64'
}

/** `make` gives the bytes to write into, all zero. */
export function pack(
  columns: readonly Column[],
  head: TapeHead,
  make: (length: number) => Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  let offset = 0
  for (const { name, type, length } of columns) {
    head.columns.push({ name, type, offset, length })
    offset += aligned(length * COLUMN_ARRAYS[type].BYTES_PER_ELEMENT)
  }
  const text = new TextEncoder().encode(JSON.stringify(head))
  const start = aligned(START + text.length)
  const bytes = make(start + offset)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, TAPE_MAGIC, true)
  view.setUint32(4, start - START, true)
  bytes.fill(0x20, START, start)
  bytes.set(text, START)
  columns.forEach(({ type, length, write }, index) => {
    write(new COLUMN_ARRAYS[type](bytes.buffer, start + head.columns[index]!.offset, length))
  })
  return bytes
}

function aligned(length: number): number {
  return Math.ceil(length / 8) * 8
}
