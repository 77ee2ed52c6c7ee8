// What the fold itself puts into the fields of an entity. An entity of a stored seed that fits is as good
// as a folded one; any other is irregular: kept as it is, but read and written with more care.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { isTruthy } from './coerce.js'

export type FieldKind =
  | 'id' // text
  | 'text' // text or null
  | 'integer' // integer or null
  | 'count' // integer
  | 'object' // an object, or anything that is not empty
  | 'filled' // anything that is not empty
  | 'any'

export type FieldKinds<T> = Readonly<Record<keyof T & string, FieldKind>>

export function isRegular(entity: JsonObject, fields: Readonly<Record<string, FieldKind>>): boolean {
  const names = Object.keys(fields)
  if (Object.keys(entity).length !== names.length) return false
  return names.every((name) => Object.hasOwn(entity, name) && fits(entity[name]!, fields[name]!))
}

function fits(value: JsonValue, kind: FieldKind): boolean {
  switch (kind) {
    case 'id':
      return typeof value === 'string'
    case 'text':
      return value === null || typeof value === 'string'
    case 'integer':
      return value === null || isInteger(value)
    case 'count':
      return isInteger(value)
    case 'object':
      return isJsonObject(value) || isTruthy(value)
    case 'filled':
      return isTruthy(value)
    case 'any':
      return true
  }
}

function isInteger(value: JsonValue): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
