// A value as it comes back from the log: keys in canonical order, numbers as the database spells them. Whoever goes on with a
// value that is about to be stored takes this form, so that nothing depends on whether it was stored in between.
import { canonicalText } from './canonical.js'
import { keyOrderOf } from './keyOrder.js'
import { floatText } from './number.js'
import { parseJson } from './parse.js'
import { Float, type JsonObject, type JsonValue, setKey } from './value.js'

/** The value itself if it is in that form already. */
export function asStored(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Float) return storedNumber(value)
  if (Array.isArray(value)) {
    const items = value.map(asStored)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  return storedMap(value)
}

function storedMap(map: JsonObject): JsonObject {
  const given = Object.keys(map)
  const { keys } = keyOrderOf(map, canonicalText)
  let isSame = true
  const copy: JsonObject = {}
  for (const [index, key] of keys.entries()) {
    const value = map[key] as JsonValue
    const stored = asStored(value)
    if (stored !== value || given[index] !== key) isSame = false
    setKey(copy, key, stored)
  }
  return isSame ? map : copy
}

/** Numbers with an exponent are written out, and there is no negative nothing. */
function storedNumber(number: Float): JsonValue {
  if (Object.is(number.value, -0)) return new Float(0)
  const text = floatText(number.value)
  const parts = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text)
  if (parts === null) return number
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point <= 0 ? `0.${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0')
  return parseJson(
    sign + (point <= 0 || point >= padded.length ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`),
  )
}
