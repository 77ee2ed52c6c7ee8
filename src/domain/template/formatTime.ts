// Times as text, in UTC, with the directives of strftime that templates use.

import { checkText } from './limits.js'
import { fault } from './templateError.js'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** `2026-01-02T03:04:05.678000+00:00`. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000+00:00')
}

export function formatTime(timeMs: number, format: string): string {
  const date = new Date(timeMs)
  let text = ''
  for (let index = 0; index < format.length; index++) {
    const character = format[index] as string
    text += character === '%' ? directive(date, format[++index] ?? '') : character
    checkText(text.length)
  }
  return text
}

function directive(date: Date, name: string): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const hour12 = date.getUTCHours() % 12 === 0 ? 12 : date.getUTCHours() % 12
  const midnight = Date.UTC(date.getUTCFullYear(), 0, 1)
  switch (name) {
    case 'Y':
      return String(date.getUTCFullYear())
    case 'y':
      return two(date.getUTCFullYear() % 100)
    case 'm':
      return two(date.getUTCMonth() + 1)
    case 'd':
      return two(date.getUTCDate())
    case 'H':
      return two(date.getUTCHours())
    case 'I':
      return two(hour12)
    case 'M':
      return two(date.getUTCMinutes())
    case 'S':
      return two(date.getUTCSeconds())
    case 'f':
      return `${String(date.getUTCMilliseconds()).padStart(3, '0')}000`
    case 'p':
      return date.getUTCHours() < 12 ? 'AM' : 'PM'
    case 'j':
      return String(Math.floor((date.getTime() - midnight) / 86_400_000) + 1).padStart(3, '0')
    case 's':
      return String(Math.floor(date.getTime() / 1000))
    case 'A':
      return DAYS[date.getUTCDay()] as string
    case 'a':
      return (DAYS[date.getUTCDay()] as string).slice(0, 3)
    case 'B':
      return MONTHS[date.getUTCMonth()] as string
    case 'b':
      return (MONTHS[date.getUTCMonth()] as string).slice(0, 3)
    case 'F':
      return date.toISOString().slice(0, 10)
    case 'T':
      return date.toISOString().slice(11, 19)
    case 'z':
      return '+0000'
    case 'Z':
      return 'UTC'
    case '%':
      return '%'
    default:
      return fault(`a time has no directive %${name}`)
  }
}
