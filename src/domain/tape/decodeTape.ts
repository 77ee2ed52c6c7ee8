// Reads the bytes of a tape, in a browser or anywhere else: nothing here may ask for Node.
import { once } from '../memo.js'
import { COLUMN_ARRAYS, TAPE_FORMAT, TAPE_MAGIC, type Tape, type TapeColumn, type TapeHead } from './tapeFormat.js'

export { continues, growTape } from './growTape.js'
export { END_FLAG, FAILED_FLAG, LATE_FLAG, OUTCOMES, SPAN_KINDS, type Tape, type TapeColumn } from './tapeFormat.js'

/** The columns are looks at the buffer, not copies. */
export function decodeTape(buffer: ArrayBuffer): Tape {
  const view = new DataView(buffer)
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== TAPE_MAGIC)
    throw new Error('these are not the bytes of a tape')
  const headLength = view.getUint32(4, true)
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, headLength))) as TapeHead
  if (head.format !== TAPE_FORMAT)
    throw new Error(`this tape has format ${head.format}, not ${TAPE_FORMAT}; load the page again`)
  const columns: Record<string, TapeColumn> = {}
  for (const { name, type, offset, length } of head.columns) {
    columns[name] = new COLUMN_ARRAYS[type](buffer, 8 + headLength + offset, length)
  }
  return { head, columns, keys: once(() => keysIn(columns)) }
}

function keysIn({ keys, key_number: numbers }: Readonly<Record<string, TapeColumn>>): string[] {
  const texts = JSON.parse(new TextDecoder().decode(keys as Uint8Array)) as string[]
  if (numbers === undefined) return texts
  const placed: string[] = []
  for (const [index, text] of texts.entries()) placed[numbers[index]!] = text
  return placed
}
