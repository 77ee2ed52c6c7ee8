// Reads the fields of a tool's configuration. What is there and of the wrong kind is the author's mistake and is named;
// it is never silently the default.

import { durationMs } from '../duration.js'
import { floatText } from '../json/number.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { ToolFailure } from './toolFailure.js'

/** The first of the names that has a value. */
export function fieldOf(config: JsonObject, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) {
    const value = Object.hasOwn(config, name) ? config[name] : undefined
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

export function textField(config: JsonObject, ...names: readonly string[]): string | undefined {
  const value = fieldOf(config, ...names)
  if (value === undefined) return undefined
  if (typeof value === 'object' && !(value instanceof Float)) throw wrong(names[0], 'a text', value)
  return scalarText(value)
}

export function requiredText(config: JsonObject, what: string, ...names: readonly string[]): string {
  const value = textField(config, ...names)
  if (value === undefined || value === '') throw new ToolFailure('config', `${what} needs ${names.join(' or ')}`)
  return value
}

export function mapField(config: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = fieldOf(config, ...names)
  if (value === undefined || isJsonObject(value)) return value
  throw wrong(names[0], 'a map', value)
}

const TRUE = new Set(['true', 'yes', 'on', '1'])
const FALSE = new Set(['false', 'no', 'off', '0', ''])

export function flagField(config: JsonObject, fallback: boolean, ...names: readonly string[]): boolean {
  const value = fieldOf(config, ...names)
  if (value === undefined) return fallback
  if (typeof value === 'boolean') return value
  const text = scalarText(value).trim().toLowerCase()
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  throw wrong(names[0], 'true or false', value)
}

/** Seconds, or a text such as `30s` and `5m`. */
export function secondsOf(value: JsonValue, name: string): number {
  const text = scalarText(value).trim()
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : durationMs(text)
  if (ms === undefined) throw wrong(name, 'seconds, or a text such as 30s', value)
  return ms / 1000
}

export function secondsField(config: JsonObject, ...names: readonly string[]): number | undefined {
  const value = fieldOf(config, ...names)
  return value === undefined ? undefined : secondsOf(value, names[0] ?? '')
}

/** Texts as they are, numbers with all their digits, maps and lists as JSON, null as nothing. */
export function scalarText(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return value instanceof Float ? floatText(value.value) : writeJson(value)
}

function wrong(name: string | undefined, wanted: string, value: JsonValue): ToolFailure {
  const shown = writeJson(value)
  return new ToolFailure(
    'config',
    `${name} must be ${wanted}, not ${shown.length > 60 ? `${shown.slice(0, 57)}…` : shown}`,
  )
}
