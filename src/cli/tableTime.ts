// Times as people read them on a terminal. Pipes and --json have every digit.

const WIRE_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d{3})\d{3}\+00:00$/
const DAY_MS = 24 * 3_600_000

/** `2026-11-16T06:10:29.208Z` */
export function millisecondTime(text: string): string {
  return text.replace(WIRE_TIME, '$1T$2$3Z')
}

const YEAR_LESS_MS = 300 * DAY_MS

/** The time of day (UTC) of a time of today, day and minute of others: as short as a narrow table needs it. */
export function clockTime(text: string, nowMs: number): string {
  const match = WIRE_TIME.exec(text)
  if (match === null) return text
  const [, date, time, fraction] = match as unknown as [string, string, string, string]
  const isToday = date === new Date(nowMs).toISOString().slice(0, 10)
  if (isToday) return `${time}Z`
  const isNear = Math.abs(Date.parse(`${date}T${time}${fraction}Z`) - nowMs) < YEAR_LESS_MS
  return isNear ? `${date.slice(5)} ${time.slice(0, 5)}Z` : `${date} ${time.slice(0, 5)}Z`
}
