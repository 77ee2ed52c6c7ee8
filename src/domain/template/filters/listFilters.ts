// Filters of lists: picking, ordering, adding up. Maps give their keys, texts their characters.

import { canonicalJson } from '../../json/canonical.js'
import { isJsonObject, type JsonValue } from '../../json/value.js'
import { calculate } from '../arithmetic.js'
import { compareValues } from '../compareValues.js'
import { checkList } from '../limits.js'
import { jsonText } from '../printValue.js'
import type { Run, TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { charactersOf, isNothing, isTrue, itemsOf, kindOf, toList } from '../values.js'
import { pickAttribute } from './attributePath.js'
import type { FilterEntry } from './filter.js'
import { wholeNumber } from './textFilters.js'

export const LIST_FILTERS: readonly FilterEntry[] = [
  ['first', { params: [], apply: (value, _, run) => itemsOf(value, run, 'first')[0] }],
  ['last', { params: [], apply: (value, _, run) => itemsOf(value, run, 'last').at(-1) }],
  ['length', { params: [], apply: (value, _, run) => length(value, run) }],
  ['count', { params: [], apply: (value, _, run) => length(value, run) }],
  ['list', { params: [], apply: (value, _, run) => toList(itemsOf(value, run, 'list')) }],
  ['sum', { params: ['attribute', 'start'], apply: sum }],
  ['min', { params: ['case_sensitive', 'attribute'], apply: (value, args, run) => extreme(value, args, run, -1) }],
  ['max', { params: ['case_sensitive', 'attribute'], apply: (value, args, run) => extreme(value, args, run, 1) }],
  ['sort', { params: ['reverse', 'case_sensitive', 'attribute'], apply: sort }],
  ['reverse', { params: [], apply: reverse }],
  ['unique', { params: ['case_sensitive', 'attribute'], apply: unique }],
  ['batch', { params: ['linecount', 'fill_with'], required: 1, apply: batch }],
]

function length(value: TemplateValue, run: Run): number {
  if (isNothing(value)) return 0
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return codePoints(value, run)
  return isJsonObject(value) ? Object.keys(value).length : fault(`a ${kindOf(value)} has no length`)
}

function codePoints(text: string, run: Run): number {
  run.chargeText(text.length)
  let count = 0
  for (let index = 0; index < text.length; index++, count++) {
    if ((text.codePointAt(index) as number) > 0xffff) index++
  }
  return count
}

function picked(attribute: TemplateValue, run: Run): (item: TemplateValue) => TemplateValue {
  return isNothing(attribute) ? (item) => item : pickAttribute(attribute, run)
}

function sum(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const items = itemsOf(value, run, 'sum')
  const pick = picked(args[0], run)
  let total: TemplateValue = args[1] ?? 0
  run.charge(items.length)
  if (Array.isArray(total)) return joined(total, items.map(pick), run)
  for (const item of items) total = calculate('+', total, pick(item))
  return total
}

/** `sum(start=[])` puts lists together. */
function joined(start: readonly JsonValue[], lists: readonly TemplateValue[], run: Run): TemplateValue {
  const all = [...start]
  for (const list of lists) {
    if (!Array.isArray(list)) return fault(`+ is not possible between list and ${kindOf(list)}`)
    checkList(all.length + list.length)
    run.charge(list.length)
    for (const item of list) all.push(item)
  }
  return all
}

function extreme(value: TemplateValue, args: readonly TemplateValue[], run: Run, sign: number): TemplateValue {
  const items = itemsOf(value, run, sign < 0 ? 'min' : 'max')
  const pick = picked(args[1], run)
  let found = items[0]
  for (const item of items) if (compareValues(pick(item), pick(found), run) * sign > 0) found = item
  return found
}

export function foldCase(value: TemplateValue, isCaseSensitive: boolean): TemplateValue {
  return typeof value === 'string' && !isCaseSensitive ? value.toLowerCase() : value
}

function sort(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const pick = picked(args[2], run)
  const isCaseSensitive = isTrue(args[1])
  const sign = isTrue(args[0]) ? -1 : 1
  const keyed = itemsOf(value, run, 'sort').map((item) => ({ item, key: foldCase(pick(item), isCaseSensitive) }))
  keyed.sort((left, right) => sign * compareValues(left.key, right.key, run))
  return toList(keyed.map(({ item }) => item))
}

function reverse(value: TemplateValue, _: readonly TemplateValue[], run: Run): TemplateValue {
  if (typeof value === 'string') return charactersOf(value, run).reverse().join('')
  const items = itemsOf(value, run, 'reverse')
  run.charge(items.length)
  return toList([...items].reverse())
}

function unique(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const pick = picked(args[1], run)
  const isCaseSensitive = isTrue(args[0])
  const seen = new Set<string>()
  return toList(
    itemsOf(value, run, 'unique').filter((item) => {
      const key = identity(foldCase(pick(item), isCaseSensitive), run)
      return !seen.has(key) && seen.add(key)
    }),
  )
}

/** Equal values have the same identity. */
function identity(value: TemplateValue, run: Run): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (kindOf(value) === 'number') return canonicalJson(value).replace(/\.0$/, '')
  // Measured first: what is shared inside a value may be far larger once it is written out.
  jsonText(value, run)
  return canonicalJson(value)
}

function batch(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const size = wholeNumber(args[0], 'the size of a batch') as number
  if (size < 1) return fault('the size of a batch is at least 1')
  const items = itemsOf(value, run, 'batch')
  const lists: JsonValue[][] = []
  run.charge(items.length)
  for (let start = 0; start < items.length; start += size) {
    const list = items.slice(start, start + size).map((item) => item ?? null)
    if (args[1] !== undefined) {
      checkList(size)
      run.charge(size)
      while (list.length < size) list.push(args[1])
    }
    lists.push(list)
  }
  return lists
}
