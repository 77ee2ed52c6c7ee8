// Instants as text. On the wire: RFC 3339 in UTC with six digits and `+00:00`, which sorts like time. In:
// anything a worker or a table is known to write, an absent zone meaning UTC. In Postgres: the same without
// a zone. A Date is never used in between, because it would cut microseconds off.

import { CpError } from '../../errors.js'

declare const brand: unique symbol
/** `YYYY-MM-DDTHH:MM:SS.ffffff+00:00` */
export type WireTime = string & { readonly [brand]: 'WireTime' }

const TIMESTAMP =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]{1,12}))? ?(?:([Zz])|([+-])([0-9]{2})(?::?([0-9]{2}))?)?$/
const PLAIN = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?$/
const MICROS_PER_SECOND = 1_000_000n
const DAY_SECONDS = 86_400
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const YEAR_MIN_SECONDS = -62_135_596_800
const YEAR_MAX_SECONDS = 253_402_300_799

/** null, undefined and the empty text mean "no time"; anything else must be a real instant. */
export function parseWireTime(value: unknown, field: string): WireTime | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const parsed = typeof value === 'string' ? parseText(value) : undefined
  if (parsed === undefined) {
    throw new CpError(
      'invalid_input',
      `${field} must be a real date and time such as 2026-11-16T02:22:39.123456+00:00`,
      { details: { field } },
    )
  }
  return parsed
}

/** The text of a timestamp column, with or without zone (the session runs in UTC). */
export function wireTimeFromPostgres(text: string, field: string): WireTime {
  const parsed = fromPlainText(text) ?? parseText(text)
  if (parsed === undefined) {
    throw new CpError('corrupt', `${field} holds a time outside the years 1 to 9999; correct the row`, {
      details: { field },
    })
  }
  return parsed
}

/** For `timestamp without time zone` columns, which hold UTC by convention. */
export function toPostgresTimestamp(time: WireTime): string {
  return `${time.slice(0, 10)} ${time.slice(11, 26)}`
}

export function wireTimeFromMillis(unixMs: number): WireTime {
  const millis = Math.floor(unixMs)
  const seconds = Math.floor(millis / 1000)
  return formatUtc(seconds, `${String(millis - seconds * 1000).padStart(3, '0')}000`)
}

export function wireTimeFromMicros(micros: bigint): WireTime {
  const fraction = ((micros % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND
  return formatUtc(Number((micros - fraction) / MICROS_PER_SECOND), String(fraction).padStart(6, '0'))
}

export function wireTimeToMicros(time: WireTime): bigint {
  const seconds = epochSeconds(
    Number(time.slice(0, 4)),
    Number(time.slice(5, 7)),
    Number(time.slice(8, 10)),
    Number(time.slice(11, 13)),
    Number(time.slice(14, 16)),
    Number(time.slice(17, 19)),
  )
  return BigInt(seconds) * MICROS_PER_SECOND + BigInt(time.slice(20, 26))
}

/** Without a zone Postgres only writes real times: they need another form, not a check. Every event read passes here. */
function fromPlainText(text: string): WireTime | undefined {
  if (!PLAIN.test(text)) return undefined
  const fraction = text.length === 26 ? text.slice(20) : text.slice(20).padEnd(6, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}+00:00` as WireTime
}

function parseText(text: string): WireTime | undefined {
  if (text.length > 48) return undefined
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', , sign, zoneHour, zoneMinute = '0'] = match
  if (!isCalendar(Number(year), Number(month), Number(day))) return undefined
  // 60 is the leap second of RFC 3339; like Postgres we let it roll into the next minute.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  if (Number(zoneHour ?? 0) > 23 || Number(zoneMinute) > 59) return undefined
  // Digits beyond microseconds are cut, not rounded: an event never moves into a later second.
  const micros = fraction.slice(0, 6).padEnd(6, '0')
  const shift = (sign === '-' ? -1 : 1) * (Number(zoneHour ?? 0) * 3600 + Number(zoneMinute) * 60)
  if (shift === 0 && second !== '60') {
    return `${year}-${month}-${day}T${hour}:${minute}:${second}.${micros}+00:00` as WireTime
  }
  const seconds =
    epochSeconds(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second)) - shift
  return seconds < YEAR_MIN_SECONDS || seconds > YEAR_MAX_SECONDS ? undefined : formatUtc(seconds, micros)
}

function isCalendar(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= (month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0))
}

/** Days are counted in years that begin in March, so that the leap day is the last one. */
function epochSeconds(y: number, month: number, day: number, hour: number, minute: number, second: number): number {
  const year = month <= 2 ? y - 1 : y
  const era = Math.floor(year / 400)
  const yearOfEra = year - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return (era * 146_097 + dayOfEra - 719_468) * DAY_SECONDS + hour * 3600 + minute * 60 + second
}

function formatUtc(seconds: number, micros: string): WireTime {
  if (!(seconds >= YEAR_MIN_SECONDS && seconds <= YEAR_MAX_SECONDS)) {
    throw new CpError('internal', 'a time outside the years 1 to 9999 cannot be written')
  }
  const days = Math.floor(seconds / DAY_SECONDS)
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const ofDay = seconds - days * DAY_SECONDS
  const clock = [Math.floor(ofDay / 3600), Math.floor((ofDay % 3600) / 60), ofDay % 60].map(two).join(':')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}.${micros}+00:00` as WireTime
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
