// What a loop goes over: a list, a map as {key, value} pairs, a number as 0…n-1, a text as JSON list or cut at commas and
// lines. Null, booleans and nothing at all are mistakes, not empty lists.

import { parseJson } from '../json/parse.js'
import { Float, isJsonObject, type JsonValue } from '../json/value.js'
import { checkList, LIST_MAX } from './limits.js'
import type { TemplateContext, TemplateValue } from './run.js'
import { Fault, fault, templateError } from './templateError.js'
import { type CompiledTree, renderTree, type TreeOptions } from './tree.js'

export interface LoopList {
  readonly tree: CompiledTree
  items(context: TemplateContext): JsonValue[]
}

export function compileLoopList(source: JsonValue, options?: TreeOptions): LoopList {
  const tree = renderTree(source, options)
  const text = typeof source === 'string' ? source : ''
  return {
    tree,
    items(context) {
      const value = tree.value(context)
      try {
        return loopItems(value)
      } catch (error) {
        throw error instanceof Fault ? templateError(error.message, text, 0) : error
      }
    },
  }
}

export function loopItems(value: TemplateValue): JsonValue[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return itemsOfText(value)
  if (isJsonObject(value)) return Object.entries(value).map(([key, item]) => ({ key, value: item }))
  if (value === undefined || value === null)
    return fault(`the list is ${value === null ? 'null' : 'undefined'}, not a list`)
  if (typeof value === 'boolean') return fault(`the list is ${value}, not a list`)
  return countUp(value instanceof Float ? value.value : Number(value))
}

function countUp(count: number): JsonValue[] {
  if (!Number.isInteger(count)) return fault(`${count} is not a number of iterations`)
  if (count > LIST_MAX) checkList(count)
  return Array.from({ length: Math.max(0, count) }, (_, index) => index)
}

function itemsOfText(text: string): JsonValue[] {
  const trimmed = text.trim()
  if (trimmed.startsWith('[') && trimmed.endsWith(']')) {
    const list = parsedList(trimmed)
    if (list !== undefined) return list
  }
  const parts = trimmed.split(/[,\r\n]/)
  checkList(parts.length)
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function parsedList(text: string): JsonValue[] | undefined {
  try {
    return parseJson(text) as JsonValue[]
  } catch {
    return undefined
  }
}
