// What can be asked with `is`. The same names serve selectattr and rejectattr.

import { Float, isJsonObject } from '../json/value.js'
import { asNumber, calculate, isFloat } from './arithmetic.js'
import { isEqual, isOrdered, type OrderOperator } from './compareValues.js'
import { isContained } from './contains.js'
import type { Run, TemplateValue } from './run.js'
import { isNothing, kindOf } from './values.js'

export interface TemplateTest {
  readonly params: number
  ask(value: TemplateValue, argument: TemplateValue, run: Run): boolean
}

const plain = (ask: (value: TemplateValue) => boolean): TemplateTest => ({ params: 0, ask })
const ordered = (operator: OrderOperator): TemplateTest => ({
  params: 1,
  ask: (value, argument, run) => isOrdered(operator, value, argument, run),
})
const equal: TemplateTest = { params: 1, ask: isEqual }
const unequal: TemplateTest = { params: 1, ask: (value, argument, run) => !isEqual(value, argument, run) }

export const TESTS: ReadonlyMap<string, TemplateTest> = new Map([
  ['defined', plain((value) => value !== undefined)],
  ['undefined', plain((value) => value === undefined)],
  ['none', plain((value) => value === null)],
  ['true', plain((value) => value === true)],
  ['false', plain((value) => value === false)],
  ['string', plain((value) => typeof value === 'string')],
  ['number', plain((value) => kindOf(value) === 'number')],
  ['integer', plain((value) => (typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint'))],
  ['float', plain((value) => value instanceof Float || (typeof value === 'number' && !Number.isInteger(value)))],
  ['boolean', plain((value) => typeof value === 'boolean')],
  ['mapping', plain((value) => isJsonObject(value))],
  ['sequence', plain((value) => Array.isArray(value))],
  ['iterable', plain((value) => typeof value === 'string' || Array.isArray(value) || isJsonObject(value))],
  ['odd', plain((value) => remainder(value, 2) === 1)],
  ['even', plain((value) => remainder(value, 2) === 0)],
  ['divisibleby', { params: 1, ask: (value, argument) => remainder(value, argument) === 0 }],
  ['eq', equal],
  ['equalto', equal],
  ['==', equal],
  ['ne', unequal],
  ['!=', unequal],
  ['lt', ordered('<')],
  ['lessthan', ordered('<')],
  ['<', ordered('<')],
  ['le', ordered('<=')],
  ['<=', ordered('<=')],
  ['gt', ordered('>')],
  ['greaterthan', ordered('>')],
  ['>', ordered('>')],
  ['ge', ordered('>=')],
  ['>=', ordered('>=')],
  ['in', { params: 1, ask: isContained }],
  ['startingwith', { params: 1, ask: (value, argument) => isPart(value, argument, 'startsWith') }],
  ['endingwith', { params: 1, ask: (value, argument) => isPart(value, argument, 'endsWith') }],
  ['lower', { params: 0, ask: (value, _, run) => isCase(value, 'toLowerCase', run) }],
  ['upper', { params: 0, ask: (value, _, run) => isCase(value, 'toUpperCase', run) }],
])

function remainder(value: TemplateValue, divisor: TemplateValue): number | undefined {
  const number = asNumber(value)
  if (number === undefined || isFloat(number)) return undefined
  const rest = calculate('%', number, divisor)
  return rest instanceof Float ? rest.value : typeof rest === 'number' ? rest : undefined
}

function isPart(value: TemplateValue, part: TemplateValue, how: 'startsWith' | 'endsWith'): boolean {
  return typeof value === 'string' && typeof part === 'string' && value[how](part)
}

/** Every letter in that case, and at least one letter. */
function isCase(value: TemplateValue, how: 'toLowerCase' | 'toUpperCase', run: Run): boolean {
  if (typeof value !== 'string' || isNothing(value)) return false
  run.chargeText(value.length)
  return value[how]() === value && value.toLowerCase() !== value.toUpperCase()
}
