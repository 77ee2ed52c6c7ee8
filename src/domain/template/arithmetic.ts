// Numbers without lost digits: integers of any size up to the limit, doubles where a float takes part. A result
// that is not a finite number is an error. Booleans count as 1 and 0.

import { Float, floatValue, integerValue } from '../json/value.js'
import { checkInteger, INTEGER_BITS_MAX } from './limits.js'
import type { TemplateValue } from './run.js'
import { fault } from './templateError.js'
import { kindOf } from './values.js'

export type NumberValue = number | bigint | Float
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**'

export function asNumber(value: TemplateValue): NumberValue | undefined {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return value
    case 'boolean':
      return value ? 1 : 0
    default:
      return value instanceof Float ? value : undefined
  }
}

export function isFloat(value: NumberValue): boolean {
  return typeof value === 'number' ? !Number.isInteger(value) : value instanceof Float
}

export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value
  return value instanceof Float ? value.value : Number(value)
}

export function toBigInt(value: number | bigint): bigint {
  return typeof value === 'bigint' ? value : BigInt(value)
}

export function finite(value: number): number | Float {
  return Number.isFinite(value) ? floatValue(value) : fault('the result is not a finite number')
}

export function calculate(operator: ArithmeticOperator, left: TemplateValue, right: TemplateValue): TemplateValue {
  const a = asNumber(left)
  const b = asNumber(right)
  if (a === undefined || b === undefined) {
    return fault(`${operator} is not possible between ${kindOf(left)} and ${kindOf(right)}`)
  }
  if (operator === '/') return divide(a, b)
  const isRoot = operator === '**' && toDouble(b) < 0
  if (isRoot && toDouble(a) === 0) return fault('division by zero')
  if (isFloat(a) || isFloat(b) || isRoot) return calculateFloats(operator, toDouble(a), toDouble(b))
  const x = a as number | bigint
  const y = b as number | bigint
  if (typeof x === 'number' && typeof y === 'number') {
    const quick = operator === '+' ? x + y : operator === '-' ? x - y : operator === '*' ? x * y : Number.NaN
    // Minus zero is a float of its own, never an integer.
    if (Number.isSafeInteger(quick)) return quick === 0 ? 0 : quick
  }
  return integerValue(checkInteger(calculateIntegers(operator, toBigInt(x), toBigInt(y))))
}

function divide(a: NumberValue, b: NumberValue): TemplateValue {
  const divisor = toDouble(b)
  return divisor === 0 ? fault('division by zero') : finite(toDouble(a) / divisor)
}

function calculateFloats(operator: ArithmeticOperator, a: number, b: number): TemplateValue {
  switch (operator) {
    case '+':
      return finite(a + b)
    case '-':
      return finite(a - b)
    case '*':
      return finite(a * b)
    case '**':
      return finite(raise(a, b))
    case '//':
      return b === 0 ? fault('division by zero') : finite(Math.floor(a / b))
    default: {
      if (b === 0) return fault('division by zero')
      const rest = a % b
      return finite(rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest)
    }
  }
}

const WHOLE_EXPONENT_MAX = 64

/** Small whole exponents by multiplying: the built-in power is off by a digit now and then. */
function raise(base: number, exponent: number): number {
  const times = Math.abs(exponent)
  if (!Number.isInteger(times) || times > WHOLE_EXPONENT_MAX) return base ** exponent
  let result = 1
  for (let count = 0; count < times; count++) result *= base
  return exponent < 0 ? 1 / result : result
}

function calculateIntegers(operator: ArithmeticOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '**':
      return power(a, b)
    case '//':
      return floorDivide(a, b)
    default:
      return a - floorDivide(a, b) * b
  }
}

function floorDivide(a: bigint, b: bigint): bigint {
  if (b === 0n) return fault('division by zero')
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

function power(base: bigint, exponent: bigint): bigint {
  if (base === 0n || base === 1n || base === -1n) return base ** (exponent === 0n ? 0n : 2n - (exponent % 2n))
  const bits = base.toString(16).length * 4 - 4
  if (exponent > BigInt(INTEGER_BITS_MAX) || BigInt(Math.max(1, bits)) * exponent > BigInt(INTEGER_BITS_MAX + 8)) {
    fault(`an integer grows beyond ${INTEGER_BITS_MAX} bits`)
  }
  return base ** exponent
}

export function negate(value: TemplateValue): TemplateValue {
  const number = asNumber(value)
  if (number === undefined) return fault(`- is not possible on ${kindOf(value)}`)
  if (isFloat(number)) return floatValue(-toDouble(number))
  return typeof number === 'number' ? 0 - number : integerValue(-toBigInt(number as bigint))
}
