// The canonical text of a JSON value and its SHA-256: the only form that is ever hashed. ASCII only,
// no spaces, keys sorted by code point, integers exact, floats always recognisable as floats. A change
// of a single byte here changes every checksum ever stored, so it needs a new fold profile.

import { createHash } from 'node:crypto'
import { keyOrderOf } from './keyOrder.js'
import { floatText, numberText } from './number.js'
import { Float, type JsonObject, type JsonValue } from './value.js'

export function canonicalJson(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return canonicalText(value)
    case 'number':
      return numberText(value)
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return canonicalArray(value)
      return value instanceof Float ? floatText(value.value) : canonicalObject(value)
    default:
      return String(value)
  }
}

export function canonicalChecksum(value: JsonValue): string {
  return sha256Hex(canonicalJson(value))
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/
const BEYOND_ASCII = /[\u007f-\uffff]/g

export function canonicalText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  // The built-in writer already gives the short escapes and lower-case hex for the rest of ASCII.
  return JSON.stringify(text).replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function canonicalArray(array: readonly JsonValue[]): string {
  if (array.length === 0) return '[]'
  let text = `[${canonicalJson(array[0]!)}`
  for (let index = 1; index < array.length; index++) text += `,${canonicalJson(array[index]!)}`
  return `${text}]`
}

function canonicalObject(object: JsonObject): string {
  const { keys, prefixes } = keyOrderOf(object, canonicalText)
  const { length } = keys
  if (length === 0) return '{}'
  let text = ''
  for (let index = 0; index < length; index++) text += prefixes[index]! + canonicalJson(object[keys[index]!]!)
  return `${text}}`
}
