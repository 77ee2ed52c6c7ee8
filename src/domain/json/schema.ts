// The small part of JSON Schema that our routes use, checked on lossless values (big integers stay
// exact, 1.0 is not 1). The same objects appear in /openapi.json, so the document cannot drift.

import { escapeSegment } from './pointer.js'
import { isJsonObject, type JsonValue } from './value.js'

export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  /** `int64`: an integer of up to 64 bits, as a number or as decimal text. */
  format?: 'int64' | 'date-time'
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /**
   * Unknown keys are ignored, as in the original, unless a route says otherwise: false refuses them, true means that the
   * route reads them, so that they are kept whatever the size of the body.
   */
  additionalProperties?: boolean
  items?: Schema
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  enum?: readonly string[]
  default?: string | number | boolean
  nullable?: boolean
}

/** The first thing wrong with the value, as a sentence with a JSON pointer; undefined when all is well. */
export function violation(schema: Schema, value: JsonValue | undefined, pointer = ''): string | undefined {
  const rule = ruleBroken(schema, value, pointer)
  if (rule === undefined) return undefined
  return typeof rule === 'string' ? `${pointer === '' ? 'the body' : pointer} ${rule}` : rule.sentence
}

/**
 * What the value itself breaks, without its place, or a whole sentence about something inside it. A batch has
 * thousands of fields and all of them are right: no place is put into words before something is wrong.
 */
type Broken = string | { sentence: string } | undefined

function ruleBroken(schema: Schema, value: JsonValue | undefined, pointer: string): Broken {
  if (value === undefined) return undefined
  if (value === null) return schema.nullable === true || schema.type === undefined ? undefined : 'must not be null'
  if (schema.format === 'int64') return isInt64(value) ? undefined : 'must be a 64-bit integer'
  switch (schema.type) {
    case 'object':
      return isJsonObject(value) ? insideObject(schema, value, pointer) : 'must be an object'
    case 'array':
      return Array.isArray(value) ? insideArray(schema, value, pointer) : 'must be an array'
    case 'string':
      return typeof value === 'string' ? stringRule(schema, value) : 'must be text'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'integer':
    case 'number':
      return numberRule(schema, value)
    default:
      return undefined
  }
}

function insideObject(schema: Schema, value: Record<string, JsonValue>, pointer: string): Broken {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return { sentence: `${pointer}/${escapeSegment(name)} is missing` }
  }
  const { properties } = schema
  if (properties !== undefined) {
    for (const name of Object.keys(value)) {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (inner === undefined) continue
      const isContainer = inner.type === 'object' || inner.type === 'array'
      const place = isContainer ? `${pointer}/${escapeSegment(name)}` : ''
      const rule = ruleBroken(inner, value[name], place)
      if (rule !== undefined) return atPlace(rule, `${pointer}/${escapeSegment(name)}`)
    }
  }
  if (schema.additionalProperties === false) {
    const unknown = Object.keys(value).find((name) => properties?.[name] === undefined)
    if (unknown !== undefined) return { sentence: `${pointer}/${escapeSegment(unknown)} is not known here` }
  }
  return undefined
}

function insideArray(schema: Schema, value: JsonValue[], pointer: string): Broken {
  if (value.length < (schema.minItems ?? 0)) return `needs at least ${schema.minItems} item(s)`
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return `takes at most ${schema.maxItems} items`
  if (schema.items === undefined) return undefined
  for (let index = 0; index < value.length; index++) {
    const rule = ruleBroken(schema.items, value[index], `${pointer}/${index}`)
    if (rule !== undefined) return atPlace(rule, `${pointer}/${index}`)
  }
  return undefined
}

function atPlace(rule: Exclude<Broken, undefined>, pointer: string): Broken {
  return typeof rule === 'string' ? { sentence: `${pointer} ${rule}` } : rule
}

function stringRule(schema: Schema, value: string): string | undefined {
  if (value.length < (schema.minLength ?? 0)) return schema.minLength === 1 ? 'must not be empty' : 'is too short'
  if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    return `is longer than ${schema.maxLength} characters`
  if (schema.enum !== undefined && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`
  return undefined
}

function numberRule(schema: Schema, value: JsonValue): string | undefined {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  if (schema.type === 'integer' && !isInteger) return 'must be an integer'
  if (typeof value !== 'number' && typeof value !== 'bigint' && !isFloat(value)) return 'must be a number'
  const number = isFloat(value) ? value.value : Number(value)
  if (number < (schema.minimum ?? Number.NEGATIVE_INFINITY)) return `must be at least ${schema.minimum}`
  if (number > (schema.maximum ?? Number.POSITIVE_INFINITY)) return `must be at most ${schema.maximum}`
  return undefined
}

function isFloat(value: JsonValue): value is Extract<JsonValue, { value: number }> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isJsonObject(value)
}

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

function isInt64(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isInteger(value)
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= INT64_MAX
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return false
  const number = BigInt(value)
  return number >= INT64_MIN && number <= INT64_MAX
}
