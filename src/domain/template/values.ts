// Kinds of values, truth, and looking into them. Only own keys count: a template never reaches a prototype.

import { Float, isJsonObject, type JsonObject } from '../json/value.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'

export type Kind = 'undefined' | 'null' | 'boolean' | 'number' | 'text' | 'list' | 'map'

export function kindOf(value: TemplateValue): Kind {
  switch (typeof value) {
    case 'undefined':
      return 'undefined'
    case 'string':
      return 'text'
    case 'boolean':
      return 'boolean'
    case 'number':
    case 'bigint':
      return 'number'
    default:
      if (value === null) return 'null'
      if (Array.isArray(value)) return 'list'
      return value instanceof Float ? 'number' : 'map'
  }
}

/** Truth inside expressions. The outcome of a whole condition has a rule of its own, see condition.ts. */
export function isTrue(value: TemplateValue): boolean {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      return value !== ''
    case 'number':
      return value !== 0
    case 'bigint':
      return value !== 0n
    case 'undefined':
      return false
    default:
      if (value === null) return false
      if (Array.isArray(value)) return value.length > 0
      if (value instanceof Float) return value.value !== 0
      for (const key in value) if (Object.hasOwn(value, key)) return true
      return false
  }
}

export function isNothing(value: TemplateValue): value is null | undefined {
  return value === undefined || value === null
}

export function keyOf(map: JsonObject, key: string): TemplateValue {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

/** `value.name`. */
export function attributeOf(value: TemplateValue, name: string): TemplateValue {
  return isJsonObject(value) ? keyOf(value, name) : undefined
}

/** `value[index]`. */
export function itemOf(value: TemplateValue, index: TemplateValue, run: Run): TemplateValue {
  if (Array.isArray(value)) {
    if (typeof index !== 'number') return undefined
    return value[index < 0 ? value.length + index : index]
  }
  if (typeof value === 'string') {
    if (typeof index !== 'number' || !Number.isInteger(index)) return undefined
    const characters = charactersOf(value, run)
    return characters[index < 0 ? characters.length + index : index]
  }
  if (!isJsonObject(value)) return undefined
  if (typeof index === 'string') return keyOf(value, index)
  // Keys of a document are texts, whatever they looked like in YAML.
  return typeof index === 'number' || typeof index === 'bigint' ? keyOf(value, String(index)) : undefined
}

export function charactersOf(text: string, run: Run): string[] {
  run.charge(text.length)
  return [...text]
}

/** What a loop or a list filter goes through: items, keys, characters; nothing at all for null and undefined. */
export function itemsOf(value: TemplateValue, run: Run, what: string): TemplateValue[] {
  if (Array.isArray(value)) return value
  if (isNothing(value)) return []
  if (typeof value === 'string') return charactersOf(value, run)
  if (!isJsonObject(value)) return fault(`${what} needs a list, not a ${kindOf(value)}`)
  const keys = Object.keys(value)
  run.charge(keys.length)
  return keys
}

/** Undefined cannot be part of a JSON value: it becomes null there. */
export function toList(values: readonly TemplateValue[]): TemplateValue {
  for (let index = 0; index < values.length; index++) {
    if (values[index] === undefined) return values.map((value) => (value === undefined ? null : value))
  }
  return values as Exclude<TemplateValue, undefined>[]
}
