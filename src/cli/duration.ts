// Spans of time as people write them (90d, 12h, 15m) and as tables show them ("3 m ago").
import { durationMs } from '../domain/duration.js'
import { parseWireTime, type WireTime, wireTimeFromMillis, wireTimeToMicros } from '../domain/events/wireTime.js'
import { CpError } from '../errors.js'

export function parseDuration(text: string, option: string): number {
  const ms = durationMs(text)
  if (ms === undefined) {
    throw new CpError(
      'invalid_input',
      `${option} must be a span of time such as 90d, 12h, 15m or 30s, not ${JSON.stringify(text)}`,
    )
  }
  return ms
}

/** An instant: a date and time, or a span of time before now. */
export function parseInstant(text: string, option: string, nowMs: number): WireTime {
  if (/^[\d.]+(ms|s|m|h|d|w)$/.test(text.trim())) return wireTimeFromMillis(nowMs - parseDuration(text, option))
  const dated = /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? `${text.trim()}T00:00:00Z` : text.trim()
  if (!/^\d/.test(dated)) {
    throw new CpError(
      'invalid_input',
      `${option} must be a time such as 2026-11-16T02:22:39Z, a date such as 2026-11-16, or a span before now such as 2h, not ${JSON.stringify(text)}`,
    )
  }
  return parseWireTime(dated, option)!
}

const STEPS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** "3 m ago"; for tables only. */
export function formatAge(time: WireTime, nowMs: number): string {
  const ms = nowMs - Number(wireTimeToMicros(time) / 1_000n)
  if (ms < 0) return 'in the future'
  const [unit, size] = STEPS.find(([, step]) => ms >= step) ?? ['s', 1_000]
  return `${Math.floor(ms / size)} ${unit} ago`
}
