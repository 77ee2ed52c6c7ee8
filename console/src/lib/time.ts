// Times and durations as people read them; the exact text stays within reach.
import { zone } from './theme'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `0.84 s`, `12.3 s`, `4 m 03 s`, `2 h 05 m`, `3 d 4 h`: what is not full yet is not counted. */
export function lasted(ms: number): string {
  if (ms < 0) return '0 s'
  if (ms === 0) return '0 ms'
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < SECOND) return `${Math.floor(ms)} ms`
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 10) / 100).toFixed(2)} s`
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${two((ms % MINUTE) / SECOND)} s`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two((ms % HOUR) / MINUTE)} m`
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`
}

export function ago(at: number, now: number): string {
  return agoText(now - at)
}

/** Of what was measured elsewhere: so long ago by that clock. */
export function agoText(ms: number): string {
  if (ms < 2 * SECOND) return 'just now'
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ago`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`
  return `${Math.floor(ms / DAY)} d ago`
}

/** Date and time to the second, in the zone the reader has chosen. */
export function clockText(at: number, fraction = 0): string {
  const date = new Date(at)
  const part =
    zone.value === 'utc'
      ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()]
      : [date.getFullYear(), date.getMonth(), date.getDate(), date.getHours(), date.getMinutes()]
  const [year, month, day, hour, minute] = part as [number, number, number, number, number]
  const second = two(date.getUTCSeconds())
  const rest = fraction === 0 ? '' : `.${String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, fraction)}`
  return `${year}-${two(month + 1)}-${two(day)} ${two(hour)}:${two(minute)}:${second}${rest}`
}

export function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}

/** Made once: looking up a locale takes longer than writing the number. */
const NUMBERS = new Intl.NumberFormat('en-US')

export function whole(value: number): string {
  return NUMBERS.format(value)
}

/** Milliseconds of a wire time; NaN for none. */
export function millisOf(text: string | null | undefined): number {
  return text == null ? Number.NaN : Date.parse(text)
}
