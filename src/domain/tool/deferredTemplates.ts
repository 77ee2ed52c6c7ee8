// Renders the texts of a value that were left for the worker, named by JSON pointers, and no other text: what the engine
// rendered may hold braces that a stranger wrote.

import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { TemplateContext } from '../template/run.js'
import { Template } from '../template/template.js'
import type { TextOptions } from '../template/tree.js'
import { ToolFailure } from './toolFailure.js'

export interface DeferredText {
  /** From the value to the text. */
  readonly path: readonly string[]
  readonly pointer: string
  readonly template: Template
  /** Code, queries, addresses: never typed again. */
  readonly isText: boolean
  /** The last part of the path is the text, and not the value behind it. */
  readonly isKey: boolean
}

export interface DeferredPlaces {
  /** JSON pointer of the value; those elsewhere are left out. */
  readonly root: string
  readonly texts: readonly string[]
  readonly keys: readonly string[]
  /** By pointer below the root. */
  readonly textOptions: (pointer: string) => TextOptions
}

export function deferredTexts(value: JsonValue, places: DeferredPlaces): DeferredText[] {
  const texts: DeferredText[] = []
  for (const [pointers, isKey] of [
    [places.texts, false],
    [places.keys, true],
  ] as const) {
    for (const pointer of pointers) {
      if (!pointer.startsWith(`${places.root}/`)) continue
      const path = pathOf(pointer.slice(places.root.length))
      const text = isKey ? path.at(-1) : at(value, path)
      if (typeof text !== 'string') continue
      const options = isKey ? { isText: true } : places.textOptions(`/${path.map(escapeSegment).join('/')}`)
      const template = compiled(text, pointer, options)
      if (template !== undefined) texts.push({ path, pointer, template, isText: options.isText === true, isKey })
    }
  }
  return texts
}

export function pathOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function renderDeferred<T extends JsonValue>(value: T, text: DeferredText, context: TemplateContext): T {
  const { path, pointer, template, isText, isKey } = text
  try {
    if (isKey) return renamed(value, path, template.textValue(context)) as T
    return replaced(value, path, isText ? template.textValue(context) : (template.value(context) ?? null)) as T
  } catch (error) {
    throw templateFailure(error, pointer)
  }
}

/** What went wrong with a template, as the failure of a tool. */
export function templateFailure(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error.name !== 'TemplateError') return error
  return new ToolFailure('template', `template error at ${place}: ${error.message}`, { cause: error })
}

function compiled(text: string, pointer: string, options: TextOptions): Template | undefined {
  try {
    return Template.compile(text, options)
  } catch (error) {
    throw templateFailure(error, pointer)
  }
}

export function at(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value
  for (const key of path) {
    if (Array.isArray(current)) current = current[Number(key)]
    else if (isJsonObject(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

/** A copy with another value at the place; everything beside the way is shared. */
export function replaced(value: JsonValue, path: readonly string[], result: JsonValue): JsonValue {
  if (path.length === 0) return result
  const [key, ...rest] = path as [string, ...string[]]
  if (Array.isArray(value)) {
    const copy = value.slice()
    copy[Number(key)] = replaced(value[Number(key)] as JsonValue, rest, result)
    return copy
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return value
  const copy: JsonObject = { ...value }
  setKey(copy, key, replaced(value[key] as JsonValue, rest, result))
  return copy
}

function renamed(value: JsonValue, path: readonly string[], name: string): JsonValue {
  const parent = path.slice(0, -1)
  const map = at(value, parent)
  if (!isJsonObject(map)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(map)) setKey(copy, key === path.at(-1) ? name : key, map[key] as JsonValue)
  return replaced(value, parent, copy)
}
