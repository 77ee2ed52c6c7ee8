// printf-style formatting: `"%s-%05.2f" | format(name, price)`. Sizes are bounded like every other text.

import { asNumber, isFloat, toBigInt, toDouble } from '../arithmetic.js'
import { checkText } from '../limits.js'
import { jsonText, printValue } from '../printValue.js'
import type { Run, TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { kindOf } from '../values.js'

const DIRECTIVE = /%([-+ 0#]*)(\d{1,4})?(?:\.(\d{1,2}))?([a-zA-Z%])/y

export function formatText(format: string, args: readonly TemplateValue[], run: Run): string {
  let text = ''
  let next = 0
  let position = 0
  while (position < format.length) {
    const mark = format.indexOf('%', position)
    text += format.slice(position, mark < 0 ? format.length : mark)
    if (mark < 0) break
    DIRECTIVE.lastIndex = mark
    const found = DIRECTIVE.exec(format)
    if (found === null) return fault('format: a % without a directive; write %% for a percent sign')
    const [whole, flags, width, precision, kind] = found as unknown as [string, string, string?, string?, string?]
    position = mark + whole.length
    if (kind === '%') {
      text += '%'
    } else {
      if (next >= args.length) fault('format: not enough values')
      const piece = formatValue(args[next++], kind as string, flags, precision, run)
      text += pad(piece, flags, Number(width ?? 0), kind !== 's' && kind !== 'r' && kind !== 'c')
    }
    checkText(text.length)
  }
  if (next < args.length) fault('format: more values than places')
  run.chargeText(text.length)
  return text
}

function formatValue(
  value: TemplateValue,
  kind: string,
  flags: string,
  precision: string | undefined,
  run: Run,
): string {
  const digits = precision === undefined ? undefined : Number(precision)
  switch (kind) {
    case 's':
      return cut(printValue(value, run), digits)
    case 'r':
      return cut(jsonText(value, run), digits)
    case 'd':
    case 'i':
    case 'u':
      return signed(integerOf(value, kind), flags, 10)
    case 'c':
      return character(value)
    case 'x':
      return signed(integerOf(value, kind), flags, 16)
    case 'X':
      return signed(integerOf(value, kind), flags, 16).toUpperCase()
    case 'o':
      return signed(integerOf(value, kind), flags, 8)
    case 'f':
    case 'F':
      return withSign(fixed(doubleOf(value, kind), digits ?? 6), flags)
    case 'e':
    case 'E':
      return exponent(doubleOf(value, kind).toExponential(digits ?? 6), kind, flags)
    case 'g':
    case 'G':
      return general(doubleOf(value, kind), Math.max(1, digits ?? 6), kind, flags)
    default:
      return fault(`format: there is no directive %${kind}`)
  }
}

function cut(text: string, digits: number | undefined): string {
  return digits === undefined ? text : [...text].slice(0, digits).join('')
}

function integerOf(value: TemplateValue, kind: string): bigint {
  const number = asNumber(value)
  if (number === undefined) return fault(`format: %${kind} needs a number, not a ${kindOf(value)}`)
  return isFloat(number) ? BigInt(Math.trunc(toDouble(number))) : toBigInt(number as number | bigint)
}

function doubleOf(value: TemplateValue, kind: string): number {
  const number = asNumber(value)
  return number === undefined ? fault(`format: %${kind} needs a number, not a ${kindOf(value)}`) : toDouble(number)
}

const FIXED_MAX = 1e21

/** From there on the language itself would write an exponent. */
function fixed(value: number, digits: number): string {
  if (Math.abs(value) < FIXED_MAX) return value.toFixed(digits)
  return BigInt(value).toString() + (digits === 0 ? '' : `.${'0'.repeat(digits)}`)
}

const PREFIXES: Readonly<Record<number, string>> = { 16: '0x', 8: '0o' }

function signed(value: bigint, flags: string, radix: number): string {
  const prefix = flags.includes('#') ? (PREFIXES[radix] ?? '') : ''
  return withSign(value < 0n ? `-${prefix}${(-value).toString(radix)}` : prefix + value.toString(radix), flags)
}

const CODE_POINT_MAX = 0x10ffff

/** One character, or its number. */
function character(value: TemplateValue): string {
  if (typeof value === 'string' && [...value].length === 1) return value
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= CODE_POINT_MAX) {
    return String.fromCodePoint(value)
  }
  return fault('format: %c needs one character or its number')
}

/** Fixed where that is short, else with an exponent; without zeros at the end. */
function general(value: number, digits: number, kind: string, flags: string): string {
  const [mantissa, power] = value.toExponential(digits - 1).split('e') as [string, string]
  const size = Number(power)
  const bare = (text: string): string => (text.includes('.') ? withoutZeros(text) : text)
  if (size >= -4 && size < digits) return withSign(bare(value.toFixed(digits - 1 - size)), flags)
  return exponent(`${bare(mantissa)}e${power}`, kind, flags)
}

function withSign(text: string, flags: string): string {
  if (text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

/** At least two digits of power. */
function exponent(written: string, kind: string, flags: string): string {
  const text = written.replace(/e([+-])(\d)$/, 'e$10$2')
  return withSign(kind === 'E' || kind === 'G' ? text.toUpperCase() : text, flags)
}

function pad(text: string, flags: string, width: number, isNumber: boolean): string {
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!isNumber || !flags.includes('0')) return ' '.repeat(missing) + text
  const sign = /^[-+ ]?(?:0[xXo])?/.exec(text)?.[0].length ?? 0
  return text.slice(0, sign) + '0'.repeat(missing) + text.slice(sign)
}

/** Of a fraction, those at its end; and the point, if nothing is left behind it. */
function withoutZeros(text: string): string {
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}
