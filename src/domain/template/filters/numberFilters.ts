// Filters that make numbers: from texts, and of numbers.

import { Float, floatValue, integerValue } from '../../json/value.js'
import { asNumber, finite, isFloat, type NumberValue, negate, toBigInt, toDouble } from '../arithmetic.js'
import { checkInteger, INTEGER_BITS_MAX } from '../limits.js'
import type { TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { kindOf } from '../values.js'
import type { FilterEntry } from './filter.js'
import { wholeNumber } from './textFilters.js'

export const NUMBER_FILTERS: readonly FilterEntry[] = [
  ['int', { params: ['default', 'base'], apply: toInteger }],
  ['float', { params: ['default'], apply: toFloat }],
  ['abs', { params: [], apply: absolute }],
  ['round', { params: ['precision', 'method'], apply: round }],
]

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const PREFIXES: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 16: '0x' }
const DIGITS_MAX = Math.ceil(INTEGER_BITS_MAX * Math.log10(2)) + 1

function toInteger(value: TemplateValue, args: readonly TemplateValue[]): TemplateValue {
  const fallback = args[0] === undefined ? 0 : args[0]
  const base = wholeNumber(args[1], 'the base of int') ?? 10
  const number = asNumber(value)
  if (number !== undefined) return isFloat(number) ? truncated(toDouble(number), fallback) : number
  if (typeof value !== 'string') return fallback
  const text = value.trim()
  if (base !== 10) return inBase(text, base) ?? fallback
  if (INTEGER.test(text)) return integerOfDigits(text)
  return DECIMAL.test(text) ? truncated(Number(text), fallback) : fallback
}

function integerOfDigits(text: string): TemplateValue {
  const digits = text.startsWith('+') ? text.slice(1) : text
  if (digits.replace(/^-?0*/, '').length > DIGITS_MAX) fault(`an integer grows beyond ${INTEGER_BITS_MAX} bits`)
  return integerValue(checkInteger(BigInt(digits)))
}

function truncated(value: number, fallback: TemplateValue): TemplateValue {
  return Number.isFinite(value) ? integerValue(BigInt(Math.trunc(value))) : fallback
}

function inBase(text: string, base: number): TemplateValue {
  if (base < 2 || base > 36) return fault('the base of int is from 2 to 36')
  const [, sign, body] = /^([+-]?)(.*)$/s.exec(text.toLowerCase()) as unknown as [string, string, string]
  const prefix = PREFIXES[base]
  const digits = prefix !== undefined && body.startsWith(prefix) ? body.slice(2) : body
  if (digits === '' || digits.length > DIGITS_MAX) return undefined
  let result = 0n
  for (const digit of digits) {
    const worth = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit)
    if (worth < 0 || worth >= base) return undefined
    result = result * BigInt(base) + BigInt(worth)
  }
  return integerValue(checkInteger(sign === '-' ? -result : result))
}

function toFloat(value: TemplateValue, args: readonly TemplateValue[]): TemplateValue {
  const fallback = args[0] === undefined ? new Float(0) : args[0]
  const number = asNumber(value)
  if (number !== undefined) {
    const double = toDouble(number)
    return Number.isFinite(double) ? floatValue(double) : fallback
  }
  if (typeof value !== 'string') return fallback
  const text = value.trim()
  const read = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(read) ? floatValue(read) : fallback
}

function absolute(value: TemplateValue): TemplateValue {
  const number = numberOf(value, 'abs')
  if (isFloat(number)) return floatValue(Math.abs(toDouble(number)))
  return toBigInt(number as number | bigint) < 0n ? negate(number) : number
}

export function numberOf(value: TemplateValue, what: string): NumberValue {
  return asNumber(value) ?? fault(`${what} needs a number, not a ${kindOf(value)}`)
}

/** Half away from zero; integers stay as they are. */
function round(value: TemplateValue, args: readonly TemplateValue[]): TemplateValue {
  const number = numberOf(value, 'round')
  const precision = wholeNumber(args[0], 'the precision of round') ?? 0
  const method = args[1] ?? 'common'
  if (method !== 'common' && method !== 'ceil' && method !== 'floor') {
    return fault('the method of round is common, ceil or floor')
  }
  if (!isFloat(number) && precision >= 0) return number
  // A double has no digit there.
  if (precision > 300 || precision < -300) return number
  const rounded = roundDouble(toDouble(number), precision, method)
  return isFloat(number) ? finite(rounded) : integerValue(BigInt(rounded))
}

function roundDouble(value: number, precision: number, method: 'common' | 'ceil' | 'floor'): number {
  const factor = 10 ** Math.abs(precision)
  const moved = precision < 0 ? value / factor : value * factor
  const whole = method === 'common' ? Math.sign(moved) * Math.floor(Math.abs(moved) + 0.5) : Math[method](moved)
  return precision < 0 ? whole * factor : whole / factor
}
