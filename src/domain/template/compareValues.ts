// Equality and order. `true == 1`, `1 == 1.0`, `"1" != 1`. The order is total, also across kinds:
// null < boolean < number < text < list < map. Undefined is only equal to itself and in no order with anything.

import { compareCodePoints } from '../json/codePoints.js'
import { isJsonObject, type JsonObject } from '../json/value.js'
import { asNumber, type NumberValue, toDouble } from './arithmetic.js'
import { VALUE_DEPTH_MAX } from './limits.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'
import { type Kind, kindOf } from './values.js'

const WORK_PER_VALUE = 4

export function isEqual(left: TemplateValue, right: TemplateValue, run: Run, depth = 0): boolean {
  if (left === right) return true
  if (typeof left === 'string' || typeof right === 'string') {
    if (typeof left === 'string') run.chargeText(left.length)
    return false
  }
  if (left === undefined || right === undefined || left === null || right === null) return false
  const a = asNumber(left)
  if (a !== undefined) {
    const b = asNumber(right)
    return b !== undefined && compareNumbers(a, b) === 0
  }
  run.charge(WORK_PER_VALUE)
  if (depth > VALUE_DEPTH_MAX) return fault('the values are nested too deeply to be compared')
  if (Array.isArray(left)) return Array.isArray(right) && isSameList(left, right, run, depth)
  return isJsonObject(left) && isJsonObject(right) && isSameMap(left, right, run, depth)
}

function isSameList(left: readonly TemplateValue[], right: readonly TemplateValue[], run: Run, depth: number): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) {
    run.charge(1)
    if (!isEqual(left[index], right[index], run, depth + 1)) return false
  }
  return true
}

function isSameMap(left: JsonObject, right: JsonObject, run: Run, depth: number): boolean {
  const keys = Object.keys(left)
  run.charge(keys.length)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key], run, depth + 1))
}

const RANK: Readonly<Record<Kind, number>> = { undefined: 0, null: 1, boolean: 2, number: 3, text: 4, list: 5, map: 6 }

/** Below 0: left first. For sorting; undefined comes first there. */
export function compareValues(left: TemplateValue, right: TemplateValue, run: Run, depth = 0): number {
  const kind = kindOf(left)
  const difference = RANK[kind] - RANK[kindOf(right)]
  run.charge(WORK_PER_VALUE)
  if (difference !== 0) return difference
  if (kind === 'text') {
    run.chargeText(Math.min((left as string).length, (right as string).length))
    return compareCodePoints(left as string, right as string)
  }
  if (kind === 'number' || kind === 'boolean') {
    return compareNumbers(asNumber(left) as NumberValue, asNumber(right) as NumberValue)
  }
  if (depth > VALUE_DEPTH_MAX) return fault('the values are nested too deeply to be compared')
  if (kind === 'list') return compareLists(left as TemplateValue[], right as TemplateValue[], run, depth)
  if (kind === 'map') return compareLists(sortedEntries(left, run), sortedEntries(right, run), run, depth)
  return 0
}

function compareLists(
  left: readonly TemplateValue[],
  right: readonly TemplateValue[],
  run: Run,
  depth: number,
): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const order = compareValues(left[index], right[index], run, depth + 1)
    if (order !== 0) return order
  }
  return left.length - right.length
}

function sortedEntries(map: TemplateValue, run: Run): TemplateValue[] {
  const object = map as JsonObject
  const keys = Object.keys(object).sort(compareCodePoints)
  run.charge(keys.length)
  return keys.flatMap((key) => [key, object[key]])
}

export function compareNumbers(a: NumberValue, b: NumberValue): number {
  // A bigint against a double is compared exactly by the language.
  const x = typeof a === 'bigint' ? a : toDouble(a)
  const y = typeof b === 'bigint' ? b : toDouble(b)
  return x < y ? -1 : x > y ? 1 : 0
}

export type OrderOperator = '<' | '<=' | '>' | '>='

export function isOrdered(operator: OrderOperator, left: TemplateValue, right: TemplateValue, run: Run): boolean {
  if (left === undefined || right === undefined) return false
  const order = compareValues(left, right, run)
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    default:
      return order >= 0
  }
}
