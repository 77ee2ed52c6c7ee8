// A value that a template has built may share parts so often that it has no size one could write down: `[a, a]`, twenty
// times over itself. Values that came from the context as they are were bounded when they entered; only what is built here
// is measured.

import type { JsonValue } from '../json/value.js'
import { Float } from '../json/value.js'
import { LIST_MAX, TEXT_MAX, VALUE_DEPTH_MAX } from './limits.js'
import { fault } from './templateError.js'

export function measureValue(value: JsonValue): void {
  measure(value, 0, { values: LIST_MAX, characters: TEXT_MAX })
}

interface Left {
  values: number
  characters: number
}

function measure(value: JsonValue, depth: number, left: Left): void {
  if (--left.values < 0) fault(`the value holds more than ${LIST_MAX} values`)
  if (typeof value === 'string') left.characters -= value.length
  if (left.characters < 0) fault(`the value holds more than ${TEXT_MAX} characters`)
  if (typeof value !== 'object' || value === null || value instanceof Float) return
  if (depth > VALUE_DEPTH_MAX - 1) fault(`the value is nested more than ${VALUE_DEPTH_MAX} levels deep`)
  if (Array.isArray(value)) {
    for (const item of value) measure(item, depth + 1, left)
    return
  }
  for (const key of Object.keys(value)) {
    left.characters -= key.length
    measure(value[key] as JsonValue, depth + 1, left)
  }
}
