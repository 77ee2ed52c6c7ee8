// Takes secrets out of JSON data: what stands under a secret name as a whole, and credentials inside of text. Never
// changes its input and never removes a key, so that the shape stays readable. `hide` also hands over what it took
// out, each with its place, so that it can be kept sealed and put back.

import { parseJson } from '../json/parse.js'
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { writeJson } from '../json/write.js'
import type { NameVerdict, SecretRules } from './secretNames.js'
import { REDACTED, redactText } from './secretText.js'

export { REDACTED, redactText } from './secretText.js'

/** What was taken out, by JSON pointer. */
export type Hidden = JsonObject

/** The value without secrets; the very same object when there was nothing to hide. */
export function redact(value: JsonValue, rules: SecretRules): JsonValue {
  return walk(value, rules, undefined)
}

/** The same for JSON that is text; the very same text when there was nothing to hide, or it is not JSON. */
export function redactJson(text: string, rules: SecretRules): string {
  let value: JsonValue
  try {
    value = parseJson(text)
  } catch {
    return redactText(text, rules)
  }
  const clean = redact(value, rules)
  return clean === value ? text : writeJson(clean)
}

/** Likewise, and what was taken out goes into `hidden` under `at` and its place. */
export function hide(value: JsonValue, rules: SecretRules, hidden: Hidden, at = ''): JsonValue {
  return walk(value, rules, { hidden, at, path: [] })
}

/** Puts back what `hide` took out. A place that is no longer there is left out. */
export function reveal(value: JsonValue, hidden: Hidden): JsonValue {
  const root: Place = { under: new Map() }
  for (const pointer of Object.keys(hidden)) {
    let place = root
    for (const segment of pointer.split('/').slice(1)) {
      const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
      const next = place.under.get(name) ?? { under: new Map() }
      place.under.set(name, next)
      place = next
    }
    place.original = hidden[pointer]!
  }
  return putBack(value, root)
}

interface Place {
  original?: JsonValue
  under: Map<string, Place>
}

/** Every object on the way is copied once: the value shown may be in use elsewhere. */
function putBack(value: JsonValue, place: Place): JsonValue {
  if (place.original !== undefined) return place.original
  if (Array.isArray(value)) {
    const copy = value.slice()
    for (const [name, under] of place.under) {
      const index = Number(name)
      if (Object.hasOwn(copy, index)) copy[index] = putBack(copy[index]!, under)
    }
    return copy
  }
  if (!isJsonObject(value)) return value
  const copy = { ...value }
  for (const [name, under] of place.under) {
    if (Object.hasOwn(copy, name)) setKey(copy, name, putBack(copy[name]!, under))
  }
  return copy
}

interface Collector {
  hidden: Hidden
  at: string
  path: (string | number)[]
}

function walk(value: JsonValue, rules: SecretRules, into: Collector | undefined): JsonValue {
  if (typeof value === 'string') return kept(value, redactText(value, rules), into)
  if (Array.isArray(value)) return walkArray(value, rules, into)
  return isJsonObject(value) ? walkObject(value, rules, into) : value
}

function walkArray(array: JsonValue[], rules: SecretRules, into: Collector | undefined): JsonValue[] {
  let changed: JsonValue[] | undefined
  for (let index = 0; index < array.length; index++) {
    const item = array[index]!
    into?.path.push(index)
    const clean = walk(item, rules, into)
    into?.path.pop()
    if (clean !== item) {
      changed ??= array.slice()
      changed[index] = clean
    }
  }
  return changed ?? array
}

function walkObject(object: JsonObject, rules: SecretRules, into: Collector | undefined): JsonObject {
  let changed: JsonObject | undefined
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue
    if (typeof value === 'string' && rules.isPlain?.(key) === true) continue
    into?.path.push(key)
    const clean = isHiddenWhole(value, rules.judge(key)) ? kept(value, REDACTED, into) : walk(value, rules, into)
    into?.path.pop()
    if (clean !== value) {
      changed ??= { ...object }
      setKey(changed, key, clean)
    }
  }
  return changed ?? object
}

/** Nothing, a flag, and a reference to the keychain tell no secret. */
function isHiddenWhole(value: JsonValue, verdict: NameVerdict): boolean {
  if (verdict === 'open' || value === null || value === '' || value === REDACTED || typeof value === 'boolean')
    return false
  if (Array.isArray(value))
    return value.length > 0 && (verdict === 'secret' || value.some((item) => typeof item === 'string'))
  if (!isJsonObject(value)) return verdict === 'secret' || typeof value === 'string'
  const names = Object.keys(value)
  const isReference = names.length === 1 && names[0] === '$noetl_ref'
  return verdict === 'secret' && names.length > 0 && !isReference
}

/** Remembers the original when it differs. */
function kept(value: JsonValue, clean: JsonValue, into: Collector | undefined): JsonValue {
  if (clean !== value && into !== undefined) {
    let pointer = into.at
    for (const segment of into.path) pointer += `/${escapeSegment(segment)}`
    setKey(into.hidden, pointer, value)
  }
  return clean
}
