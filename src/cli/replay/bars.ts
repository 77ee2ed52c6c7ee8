// Small drawings in text: how far something is, and when it ran.
import { type WireTime, wireTimeToMicros } from '../../domain/events/wireTime.js'

const FULL = '█'
const EMPTY = '·'

export function progressBar(done: number, total: number, width: number): string {
  if (!(total > 0)) return EMPTY.repeat(width)
  const filled = Math.min(width, Math.max(0, Math.round((done / total) * width)))
  return FULL.repeat(filled) + EMPTY.repeat(width - filled)
}

/** Where a span lies within the whole; at least one mark. */
export function spanBar(
  span: { from: WireTime; to: WireTime },
  whole: { from: WireTime; to: WireTime },
  width: number,
): string {
  const start = wireTimeToMicros(whole.from)
  const length = Number(wireTimeToMicros(whole.to) - start)
  const place = (time: WireTime): number =>
    length === 0 ? 0 : Math.round((Number(wireTimeToMicros(time) - start) / length) * width)
  const from = Math.min(width - 1, place(span.from))
  const to = Math.max(from + 1, Math.min(width, place(span.to)))
  return EMPTY.repeat(from) + FULL.repeat(to - from) + EMPTY.repeat(width - to)
}

export function durationText(from: WireTime, to: WireTime): string {
  const micros = Number(wireTimeToMicros(to) - wireTimeToMicros(from))
  if (micros < 1_000) return `${micros} µs`
  if (micros < 1_000_000) return `${(micros / 1_000).toFixed(micros < 10_000 ? 1 : 0)} ms`
  const seconds = micros / 1_000_000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${Math.floor(seconds % 60)} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} m`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}
