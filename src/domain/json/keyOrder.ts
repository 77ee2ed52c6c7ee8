// How the keys of an object sort, and what is written before each of its values. Objects of a log come
// in a few shapes, so the answer for a shape is remembered in a small table: a comparison per key instead
// of a sort, which made hashing a large state about a third faster. The table never changes an answer.

import { compareCodePoints } from './codePoints.js'
import type { JsonObject } from './value.js'

export interface KeyOrder {
  /** By code point. */
  readonly keys: readonly string[]
  /** `{"first":`, `,"second":`, … */
  readonly prefixes: readonly string[]
}

interface RememberedOrder extends KeyOrder {
  readonly given: readonly string[]
}

const SLOTS = 256
// Objects with more keys are data rather than shapes, and keys this long would only fill the memory.
const KEYS_MAX = 24
const KEY_LENGTH_MAX = 64

const NO_KEYS: RememberedOrder = { given: [], keys: [], prefixes: [] }
const remembered: RememberedOrder[] = new Array<RememberedOrder>(SLOTS).fill(NO_KEYS)

export function keyOrderOf(object: JsonObject, keyText: (key: string) => string): KeyOrder {
  const given = Object.keys(object)
  if (given.length === 0) return NO_KEYS
  const slot = slotOf(given)
  if (slot < 0) return orderOf(given, keyText)
  const known = remembered[slot]!
  if (isSameList(known.given, given)) return known
  const order = { given, ...orderOf(given.slice(), keyText) }
  if (given.every((key) => key.length <= KEY_LENGTH_MAX)) remembered[slot] = order
  return order
}

function orderOf(keys: string[], keyText: (key: string) => string): KeyOrder {
  keys.sort(compareCodePoints)
  return { keys, prefixes: keys.map((key, index) => `${index === 0 ? '{' : ','}${keyText(key)}:`) }
}

function slotOf(keys: readonly string[]): number {
  const { length } = keys
  if (length > KEYS_MAX) return -1
  const first = keys[0]!
  const last = keys[length - 1]!
  if (first === '' || last === '') return -1
  const spread = length * 31 + first.length * 7 + last.length * 3 + first.charCodeAt(0) * 5 + last.charCodeAt(0)
  return spread % SLOTS
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  return true
}
