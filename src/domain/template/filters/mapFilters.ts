// Filters of maps, and the way between values and texts.

import { parseJson } from '../../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.js'
import { compareValues } from '../compareValues.js'
import { checkText } from '../limits.js'
import { jsonText, printValue } from '../printValue.js'
import type { Run, TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { isNothing, isTrue, itemOf, kindOf } from '../values.js'
import type { FilterEntry } from './filter.js'
import { foldCase } from './listFilters.js'
import { wholeNumber } from './textFilters.js'

export const MAP_FILTERS: readonly FilterEntry[] = [
  ['keys', { params: [], apply: (value, _, run) => Object.keys(mapOf(value, 'keys', run)) }],
  ['values', { params: [], apply: (value, _, run) => Object.values(mapOf(value, 'values', run)) }],
  ['items', { params: [], apply: (value, _, run) => Object.entries(mapOf(value, 'items', run)) }],
  ['get', { params: ['key', 'default'], required: 1, apply: get }],
  ['dictsort', { params: ['case_sensitive', 'by', 'reverse'], apply: dictsort }],
  ['default', { params: ['default_value', 'boolean'], apply: fallback }],
  ['d', { params: ['default_value', 'boolean'], apply: fallback }],
  ['tojson', { params: ['indent'], apply: toJson }],
  ['fromjson', { params: [], apply: fromJson }],
  ['b64encode', { params: [], apply: encode }],
  ['b64decode', { params: [], apply: decode }],
]

function mapOf(value: TemplateValue, what: string, run: Run): JsonObject {
  if (isNothing(value)) return {}
  if (!isJsonObject(value)) return fault(`${what} needs a map, not a ${kindOf(value)}`)
  run.charge(Object.keys(value).length)
  return value
}

function get(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const found = itemOf(value, args[0], run)
  return found === undefined ? args[1] : found
}

function dictsort(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const by = args[1] ?? 'key'
  if (by !== 'key' && by !== 'value') return fault('dictsort sorts by key or by value')
  const sign = isTrue(args[2]) ? -1 : 1
  const keyed = Object.entries(mapOf(value, 'dictsort', run)).map((entry) => ({
    entry,
    key: foldCase(by === 'key' ? entry[0] : entry[1], isTrue(args[0])),
  }))
  keyed.sort((left, right) => sign * compareValues(left.key, right.key, run))
  return keyed.map(({ entry }) => entry as JsonValue[])
}

function fallback(value: TemplateValue, args: readonly TemplateValue[]): TemplateValue {
  const isMissing = isTrue(args[1]) ? !isTrue(value) : isNothing(value)
  if (!isMissing) return value
  return args.length === 0 ? '' : args[0]
}

const INDENT_MAX = 16

function toJson(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const wanted = args[0] === true ? 2 : args[0] === false ? 0 : (wholeNumber(args[0], 'the indent of tojson') ?? 0)
  return jsonText(value, run, Math.max(0, Math.min(INDENT_MAX, wanted)))
}

function fromJson(value: TemplateValue, _: readonly TemplateValue[], run: Run): TemplateValue {
  if (typeof value !== 'string') return fault(`fromjson needs a text, not a ${kindOf(value)}`)
  run.chargeText(value.length)
  try {
    return parseJson(value)
  } catch {
    return fault('the text is not valid JSON')
  }
}

function encode(value: TemplateValue, _: readonly TemplateValue[], run: Run): TemplateValue {
  const text = printValue(value, run)
  run.chargeText(text.length)
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  checkText(encoded.length)
  return encoded
}

function decode(value: TemplateValue, _: readonly TemplateValue[], run: Run): TemplateValue {
  const text = printValue(value, run).replace(/\s+/g, '')
  run.chargeText(text.length)
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return fault('the text is not base64')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'base64'))
  } catch {
    return fault('the base64 does not hold a text')
  }
}
