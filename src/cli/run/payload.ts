// The values of a run: a file under --payload under --set.

import type { Violation } from '../../domain/catalog/violation.js'
import { readYaml, YAML_LIMITS } from '../../domain/catalog/yamlText.js'
import { parseJsonStrict } from '../../domain/json/parse.js'
import { INPUT_DEPTH_MAX, isJsonObject, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { CpError, toCpError } from '../../errors.js'
import { readOptionFile } from '../source.js'

export interface PayloadOptions {
  /** JSON or YAML. */
  file: string | undefined
  /** JSON, or @file. */
  payload: string | undefined
  /** `key=value` or `key:=text`; keys may have dots. */
  sets: readonly string[]
}

export async function readPayload(options: PayloadOptions): Promise<JsonObject | undefined> {
  const { file, payload, sets } = options
  if (file === undefined && payload === undefined && sets.length === 0) return undefined
  const merged: JsonObject = {
    ...(file === undefined ? {} : mapOf(readDocument(await readOptionFile(file), file), file)),
    ...(payload === undefined ? {} : mapOf(await readGiven(payload), '--payload')),
  }
  for (const set of sets) assign(merged, set)
  return merged
}

function readDocument(text: string, name: string): JsonValue {
  const violations: Violation[] = []
  const value = readYaml(text, YAML_LIMITS, violations)
  const [first] = violations
  if (first !== undefined || value === undefined) {
    throw new CpError('invalid_input', `${name} is neither JSON nor YAML: ${first?.message ?? 'it is empty'}`)
  }
  return value
}

async function readGiven(text: string): Promise<JsonValue> {
  if (text.startsWith('@')) return readDocument(await readOptionFile(text.slice(1)), text.slice(1))
  try {
    return parseJsonStrict(text, { maxDepth: INPUT_DEPTH_MAX })
  } catch (error) {
    throw new CpError('invalid_input', `--payload is not JSON: ${toCpError(error).message}`, { cause: error })
  }
}

function mapOf(value: JsonValue, name: string): JsonObject {
  if (isJsonObject(value)) return value
  throw new CpError('invalid_input', `${name} must hold a map of values`)
}

function assign(into: JsonObject, set: string): void {
  const at = set.indexOf('=')
  if (at < 1) throw new CpError('invalid_input', `--set must be key=value, not ${JSON.stringify(set)}`)
  const isText = set[at - 1] === ':'
  const path = set.slice(0, isText ? at - 1 : at).split('.')
  // `workload.x` is how templates name the value x, and how people type it.
  const keys = path.length > 1 && path[0] === 'workload' ? path.slice(1) : path
  const text = set.slice(at + 1)
  if (keys.some((key) => key === '')) throw new CpError('invalid_input', `--set ${set}: a key is empty`)
  let map = into
  for (const key of keys.slice(0, -1)) {
    const inner = Object.hasOwn(map, key) ? map[key] : undefined
    // A copy: the map may be part of what was read.
    const next: JsonObject = isJsonObject(inner) ? { ...inner } : {}
    setKey(map, key, next)
    map = next
  }
  setKey(map, keys[keys.length - 1]!, isText ? text : readValue(text))
}

function readValue(text: string): JsonValue {
  try {
    return parseJsonStrict(text, { maxDepth: INPUT_DEPTH_MAX })
  } catch {
    // What is not JSON is the text itself.
    return text
  }
}
