// The order of projection rows. Ids that are integers come first, compared as integers; all others
// follow by code point. Equal integers written differently ("7", "07") keep the order in which they
// were first mentioned in `python`; in `cp` the text decides, so that a state which went through a
// store (where keys are reordered) gives the same checksum.

import { compareCodePoints } from '../json/codePoints.js'
import { compareIntegers, type Integer, integerOfText, SHORT_DIGITS } from './coerce.js'
import type { FoldProfile } from './profile.js'

interface Keyed<T> {
  text: string
  integer: Integer | undefined
  item: T
}

export function sortById<T>(items: readonly T[], idOf: (item: T) => string, profile: FoldProfile): T[] {
  if (isSortedShortIds(items, idOf)) return items.slice()
  const keyed = items.map((item): Keyed<T> => {
    const text = idOf(item)
    return { text, integer: integerOfText(text), item }
  })
  const compare = (left: Keyed<T>, right: Keyed<T>) => compareIds(left, right, profile)
  return sortIfNeeded(keyed, compare).map((entry) => entry.item)
}

// The usual case, told without making anything: ids of digits that only grow.
function isSortedShortIds<T>(items: readonly T[], idOf: (item: T) => string): boolean {
  let previous = -1
  for (let index = 0; index < items.length; index++) {
    const text = idOf(items[index]!)
    if (!SHORT_DIGITS.test(text)) return false
    const id = Number(text)
    if (id <= previous) return false
    previous = id
  }
  return true
}

export function sortByText<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return sortIfNeeded(items.slice(), (left, right) => compareCodePoints(textOf(left), textOf(right)))
}

function compareIds<T>(left: Keyed<T>, right: Keyed<T>, profile: FoldProfile): number {
  if (left.integer !== undefined && right.integer !== undefined) {
    const order = compareIntegers(left.integer, right.integer)
    return order !== 0 || profile === 'python' ? order : compareCodePoints(left.text, right.text)
  }
  if (left.integer !== undefined) return -1
  if (right.integer !== undefined) return 1
  return compareCodePoints(left.text, right.text)
}

// Logs mention ids in growing order, so most lists are sorted already.
export function sortIfNeeded<T>(items: T[], compare: (left: T, right: T) => number): T[] {
  for (let index = 1; index < items.length; index++) {
    if (compare(items[index - 1]!, items[index]!) > 0) return items.sort(compare)
  }
  return items
}
