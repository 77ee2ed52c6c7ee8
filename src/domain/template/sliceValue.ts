// `value[start:stop:step]` of lists and texts, with negative positions and steps. Nothing gives an empty list.

import { integerValue } from '../json/value.js'
import { toBigInt } from './arithmetic.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'
import { charactersOf, isNothing, kindOf } from './values.js'

export function sliceValue(
  value: TemplateValue,
  start: TemplateValue,
  stop: TemplateValue,
  step: TemplateValue,
  run: Run,
): TemplateValue {
  if (isNothing(value)) return []
  if (typeof value !== 'string' && !Array.isArray(value)) return fault(`a ${kindOf(value)} has no parts`)
  const items = typeof value === 'string' ? charactersOf(value, run) : value
  const by = position(step) ?? 1
  if (by === 0) return fault('the step of a slice is 0')
  const { length } = items
  const lowest = by > 0 ? 0 : -1
  const highest = by > 0 ? length : length - 1
  const from = within(position(start), by > 0 ? lowest : highest, length, lowest, highest)
  const to = within(position(stop), by > 0 ? highest : lowest, length, lowest, highest)
  const parts: TemplateValue[] = []
  for (let index = from; by > 0 ? index < to : index > to; index += by) parts.push(items[index])
  run.charge(parts.length)
  return typeof value === 'string' ? parts.join('') : (parts as typeof value)
}

function position(value: TemplateValue): number | undefined {
  if (isNothing(value)) return undefined
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'bigint') return Number(integerValue(toBigInt(value)))
  return fault('a slice needs whole numbers')
}

function within(given: number | undefined, absent: number, length: number, lowest: number, highest: number): number {
  if (given === undefined) return absent
  return Math.min(highest, Math.max(lowest, given < 0 ? given + length : given))
}
