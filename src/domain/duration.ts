// Spans of time as people write them: 30s, 5m, 12h, 90d.

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

// Beyond a century the arithmetic of dates ends before the patience does.
const DURATION_MS_MAX = 36_500 * 86_400_000

/** Milliseconds; undefined when the text is not a span of time, or longer than a century. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim())
  if (match === null) return undefined
  const ms = Math.round(Number(match[1]) * (UNIT_MS[match[2] as string] as number))
  return ms <= DURATION_MS_MAX ? ms : undefined
}
