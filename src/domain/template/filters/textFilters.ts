// Filters that make texts of texts. Whatever is not text is printed first.

import { checkList, checkText } from '../limits.js'
import { printValue } from '../printValue.js'
import type { Run, TemplateValue } from '../run.js'
import { fault } from '../templateError.js'
import { itemsOf, kindOf } from '../values.js'
import { pickAttribute } from './attributePath.js'
import type { FilterEntry } from './filter.js'
import { formatText } from './formatText.js'

export const TEXT_FILTERS: readonly FilterEntry[] = [
  ['string', { params: [], apply: (value, _, run) => printValue(value, run) }],
  ['safe', { params: [], apply: (value) => value }],
  ['lower', { params: [], apply: (value, _, run) => printed(value, run).toLowerCase() }],
  ['upper', { params: [], apply: (value, _, run) => printed(value, run).toUpperCase() }],
  ['title', { params: [], apply: (value, _, run) => title(printed(value, run)) }],
  ['capitalize', { params: [], apply: (value, _, run) => capitalize(printed(value, run)) }],
  ['trim', { params: ['chars'], apply: trim }],
  ['replace', { params: ['old', 'new', 'count'], required: 2, apply: replace }],
  ['split', { params: ['separator', 'maxsplit'], apply: split }],
  ['join', { params: ['d', 'attribute'], apply: join }],
  ['format', { params: [], apply: (value, args, run) => formatText(printed(value, run), args, run) }],
]

function printed(value: TemplateValue, run: Run): string {
  const text = printValue(value, run)
  run.chargeText(text.length)
  return text
}

function capitalize(text: string): string {
  const first = text.codePointAt(0)
  if (first === undefined) return ''
  const letter = String.fromCodePoint(first)
  return letter.toUpperCase() + text.slice(letter.length).toLowerCase()
}

/** A word begins behind white space, a dash or an opening bracket. */
function title(text: string): string {
  return text
    .split(/([-\s({[<]+)/)
    .map((part, index) => (index % 2 === 0 ? capitalize(part) : part))
    .join('')
}

function trim(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const text = printed(value, run)
  if (args[0] === undefined || args[0] === null) return text.trim()
  const drop = new Set(printValue(args[0], run))
  const characters = [...text]
  let start = 0
  let end = characters.length
  run.charge(end)
  while (start < end && drop.has(characters[start] as string)) start++
  while (end > start && drop.has(characters[end - 1] as string)) end--
  return characters.slice(start, end).join('')
}

function replace(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const text = printed(value, run)
  const old = printValue(args[0], run)
  const fresh = printValue(args[1], run)
  const most = wholeNumber(args[2], 'the count of replace') ?? Number.POSITIVE_INFINITY
  const pieces = old === '' ? ['', ...text, ''] : text.split(old)
  const count = Math.max(0, Math.min(pieces.length - 1, most < 0 ? Number.POSITIVE_INFINITY : most))
  checkText(text.length + count * (fresh.length - old.length))
  run.charge(pieces.length)
  run.chargeText(text.length + count * fresh.length)
  if (count === pieces.length - 1) return pieces.join(fresh)
  return [...pieces.slice(0, count), pieces.slice(count).join(old)].join(fresh)
}

function split(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const text = printed(value, run)
  const most = wholeNumber(args[1], 'the maxsplit of split') ?? -1
  if (args[0] === undefined || args[0] === null) return splitWords(text, most, run)
  const separator = printValue(args[0], run)
  if (separator === '') return fault('split needs a separator that is not empty')
  const pieces = text.split(separator)
  checkList(pieces.length)
  run.charge(pieces.length)
  if (most < 0 || pieces.length <= most + 1) return pieces
  return [...pieces.slice(0, most), pieces.slice(most).join(separator)]
}

function splitWords(text: string, most: number, run: Run): TemplateValue {
  const words: string[] = []
  const word = /\S+/g
  for (let found = word.exec(text); found !== null; found = word.exec(text)) {
    if (most >= 0 && words.length === most) {
      words.push(text.slice(found.index).trimEnd())
      break
    }
    words.push(found[0])
  }
  checkList(words.length)
  run.charge(words.length)
  return words
}

function join(value: TemplateValue, args: readonly TemplateValue[], run: Run): TemplateValue {
  const separator = printValue(args[0], run)
  const items = itemsOf(value, run, 'join')
  const pick = args[1] === undefined ? undefined : pickAttribute(args[1], run)
  let text = ''
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += separator
    text += printValue(pick === undefined ? items[index] : pick(items[index]), run)
    checkText(text.length)
  }
  run.charge(items.length)
  run.chargeText(text.length)
  return text
}

export function wholeNumber(value: TemplateValue, what: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return fault(`${what} must be a whole number, not a ${kindOf(value)}`)
}
