// A tape from the beginning and the piece that comes after it: one tape again, so that whoever follows a log asks for what
// is new alone. Runs in browsers, too: nothing here may ask for Node.
import { once } from '../memo.js'
import type { Tape, TapeColumn } from './tapeFormat.js'

const OF_EVENTS = ['type', 'step', 'status', 'worker', 'flags', 'version', 'span'] as const
const OF_SPANS = [
  'span_kind',
  'span_key',
  'span_row',
  'span_parent',
  'span_pool',
  'span_issued',
  'span_claimed',
  'span_started',
  'span_ended',
  'span_outcome',
] as const

/** Whether the piece begins where the tape ends, in a log whose places have not moved. */
export function continues(tape: Tape, { head }: Tape): boolean {
  return head.epoch === tape.head.epoch && head.level === 'full' && head.from === tape.head.to + 1
}

export function growTape(tape: Tape, piece: Tape): Tape {
  const numbers = piece.columns['span_number']!
  const columns: Record<string, TapeColumn> = {}
  for (const name of OF_EVENTS) columns[name] = joined(tape.columns[name]!, piece.columns[name]!)
  for (const name of OF_SPANS) columns[name] = placed(tape.columns[name]!, piece.columns[name]!, numbers)
  const later = piece.head.base_ms - tape.head.base_ms
  const times = Float64Array.from(piece.columns['time']!, (ms) => ms + later)
  const isWhole = times.every((ms) => ms >= 0 && ms < 2 ** 32)
  columns['time'] = joined(tape.columns['time']!, isWhole ? Uint32Array.from(times) : times)
  const keys = once(() => Object.assign(tape.keys().slice(), piece.keys()))
  return { head: { ...piece.head, from: tape.head.from, base_ms: tape.head.base_ms, columns: [] }, columns, keys }
}

function joined(first: TapeColumn, second: TapeColumn): TapeColumn {
  const all = widerOf(first, second, first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

/** Values of the piece at their places in the tape: new ones at its end, others in the place of what was there. */
function placed(first: TapeColumn, second: TapeColumn, places: TapeColumn): TapeColumn {
  const all = widerOf(first, second, Math.max(first.length, (places.at(-1) ?? -1) + 1))
  all.set(first)
  for (let index = 0; index < second.length; index++) all[places[index]!] = second[index]!
  return all
}

function widerOf(first: TapeColumn, second: TapeColumn, length: number): TapeColumn {
  const wider = first.BYTES_PER_ELEMENT >= second.BYTES_PER_ELEMENT ? first : second
  return new (wider.constructor as new (length: number) => TapeColumn)(length)
}
