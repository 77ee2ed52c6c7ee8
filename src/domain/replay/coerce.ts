// How the fold reads loosely typed values: what counts as empty, as text and as an integer. Events come
// from many writers, so an id may be 7, "7" or 7.0; these rules decide what that means, and every
// checksum depends on them. JavaScript's own `||`, String() and Number() disagree and must not be used.

import { canonicalJson } from '../json/canonical.js'
import { floatText } from '../json/number.js'
import { Float, integerValue, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'

export type Maybe = JsonValue | undefined
export type Integer = number | bigint

export const EMPTY_OBJECT: JsonObject = Object.freeze({})

export function isTruthy(value: Maybe): value is JsonValue {
  if (value === null || value === undefined) return false
  if (typeof value !== 'object') return typeof value === 'number' ? value !== 0 : Boolean(value)
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Float) return value.value !== 0
  for (const _key in value) return true
  return false
}

/** The first truthy value, else the last one whatever it is. */
export function firstTruthy(first: Maybe, ...rest: Maybe[]): JsonValue {
  let value = first
  for (let index = 0; index < rest.length && !isTruthy(value); index++) value = rest[index]
  return value ?? null
}

export function truthyOr(value: Maybe, otherwise: JsonValue): JsonValue {
  return isTruthy(value) ? value : otherwise
}

export function objectOr(value: Maybe, otherwise: JsonObject): JsonObject {
  return isJsonObject(value) ? value : otherwise
}

export function textOf(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? String(value) : lowerCaseWords(floatText(value))
    case 'bigint':
      return String(value)
    case 'boolean':
      return value ? 'True' : 'False'
    default:
      if (value instanceof Float) return lowerCaseWords(floatText(value.value))
      return value === null ? 'None' : canonicalJson(value)
  }
}

export function textOrNull(value: Maybe): string | null {
  return value === null || value === undefined ? null : textOf(value)
}

function lowerCaseWords(text: string): string {
  return text === 'NaN' ? 'nan' : text.replace('Infinity', 'inf')
}

/** The integer a value stands for, undefined if it stands for none. */
export function integerOf(value: Maybe): Integer | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? wholePart(value) : undefined
    case 'bigint':
      return value
    case 'boolean':
      return value ? 1 : 0
    case 'string':
      return integerOfText(value)
    default:
      return value instanceof Float && Number.isFinite(value.value) ? wholePart(value.value) : undefined
  }
}

function wholePart(value: number): Integer {
  const whole = Math.trunc(value)
  // Adding 0 turns -0 into 0.
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole)
}

/** Always an exact double. */
export const SHORT_DIGITS = /^[0-9]{1,15}$/
const LONG_DIGITS = /^[0-9]{16,40}$/
const INTEGER_TEXT = /^[+-]?\p{Nd}+(?:_\p{Nd}+)*$/u
const DIGIT = /\p{Nd}/u
const DIGITS_MAX = 4300
// Five separators count as white space that JavaScript does not trim, and U+FEFF does not count.
const ODD_SPACES = new Set(['\u001c', '\u001d', '\u001e', '\u001f', '\u0085'])

export function integerOfText(text: string): Integer | undefined {
  if (SHORT_DIGITS.test(text)) return Number(text)
  if (LONG_DIGITS.test(text)) return integerValue(BigInt(text))
  const plain = stripSpace(text)
  if (!INTEGER_TEXT.test(plain)) return undefined
  const digits = Array.from(plain.replace(/^[+-]/, '').replaceAll('_', ''), asciiDigit)
  if (digits.length > DIGITS_MAX) return undefined
  const magnitude = BigInt(digits.join(''))
  return integerValue(plain.startsWith('-') ? -magnitude : magnitude)
}

function stripSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charAt(start))) start++
  while (end > start && isSpace(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(character: string): boolean {
  return ODD_SPACES.has(character) || (character !== '\ufeff' && character.trim() === '')
}

// Decimal digits of every script stand in runs of ten, zero first.
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  if (code < 0x80) return digit
  let start = code
  while (DIGIT.test(String.fromCodePoint(start - 1))) start--
  return String((code - start) % 10)
}

/** Lower than, equal to or higher than zero; exact across both kinds of integers. */
export function compareIntegers(left: Integer, right: Integer): number {
  return left < right ? -1 : left > right ? 1 : 0
}

export function increment(value: Integer): Integer {
  return typeof value === 'number' && value < Number.MAX_SAFE_INTEGER ? value + 1 : BigInt(value) + 1n
}
