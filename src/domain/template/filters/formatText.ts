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
      text += pad(piece, flags, Number(width ?? 0), kind !== 's' && kind !== 'r')
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
    case 'x':
      return signed(integerOf(value, kind), flags, 16)
    case 'X':
      return signed(integerOf(value, kind), flags, 16).toUpperCase()
    case 'o':
      return signed(integerOf(value, kind), flags, 8)
    case 'f':
    case 'F':
      return withSign(doubleOf(value, kind).toFixed(digits ?? 6), flags)
    case 'e':
    case 'E':
      return exponent(doubleOf(value, kind), digits ?? 6, kind, flags)
    case 'g':
    case 'G':
      return withSign(String(Number(doubleOf(value, kind).toPrecision(Math.max(1, digits ?? 6)))), flags)
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

function signed(value: bigint, flags: string, radix: number): string {
  return withSign(value.toString(radix), flags)
}

function withSign(text: string, flags: string): string {
  if (text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

function exponent(value: number, digits: number, kind: string, flags: string): string {
  const text = value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
  return withSign(kind === 'E' ? text.toUpperCase() : text, flags)
}

function pad(text: string, flags: string, width: number, isNumber: boolean): string {
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!isNumber || !flags.includes('0')) return ' '.repeat(missing) + text
  const sign = /^[-+ ]/.test(text) ? 1 : 0
  return text.slice(0, sign) + '0'.repeat(missing) + text.slice(sign)
}
