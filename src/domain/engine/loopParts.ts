// Results of single iterations that are stored outside of the log. The data of the loop holds their small parts in their
// places and says where the rest is; whoever reads more of one must have it at hand, like any data that is stored elsewhere.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { FetchedValues } from '../state/orchestrator.js'
import type { Reference } from './answer.js'
import { engineError, StepFailure } from './engineError.js'

export interface Part {
  readonly index: number
  readonly ref: string
  readonly bytes: number
}

/** Under this key the log keeps them beside the results; templates do not see it. */
const KEY = 'references'

export function partOf(index: number, { ref, document: { meta } }: Reference): JsonObject {
  return { index, ref, bytes: isJsonObject(meta) ? (meta['bytes'] ?? null) : null }
}

export function storedParts(parts: readonly JsonObject[]): JsonObject {
  return parts.length === 0 ? {} : { [KEY]: [...parts] }
}

export function partsOf(stored: JsonValue | undefined): readonly Part[] {
  const list = isJsonObject(stored) && Object.hasOwn(stored, 'results') ? stored[KEY] : undefined
  if (!Array.isArray(list)) return NONE
  return list.flatMap((part) => {
    const { index, ref, bytes } = isJsonObject(part) ? part : ({} as JsonObject)
    const isPart = typeof index === 'number' && typeof ref === 'string'
    return isPart ? [{ index, ref, bytes: typeof bytes === 'number' ? bytes : 0 }] : []
  })
}

const NONE: readonly Part[] = []

/** The data of a loop as templates see it. */
export function withoutParts(stored: JsonObject): JsonObject {
  const { [KEY]: _parts, ...rest } = stored
  return rest
}

/** For whoever gets the data without the log: it is told where the results are that are stored one by one. */
export function withPlaces(data: JsonValue, parts: readonly Part[]): JsonValue {
  return isJsonObject(data) ? { ...data, ...storedParts(parts.map((part) => ({ ...part }))) } : data
}

/** With what was fetched in its place; the others say where they are. */
export function withParts(data: JsonValue, parts: readonly Part[], fetched: FetchedValues): JsonValue {
  if (parts.length === 0 || !isJsonObject(data) || !Array.isArray(data['results'])) return data
  const results = [...data['results']]
  for (const { index, ref, bytes } of parts) {
    const kept = results[index]
    if (!fetched.has(ref)) results[index] = { __ref__: ref, _bytes: bytes, ...(isJsonObject(kept) ? kept : {}) }
    else results[index] = fetchedValue(ref, fetched)
  }
  return { ...data, data: results, results }
}

function fetchedValue(ref: string, fetched: FetchedValues): JsonValue {
  const value = fetched.get(ref)
  if (value !== undefined) return value
  throw new StepFailure(engineError('storage', `the result ${ref} is gone: it expired or was damaged`))
}

/** As the log keeps it, with everything in its place. */
export async function withValues(stored: JsonValue, read: (ref: string) => Promise<JsonValue>): Promise<JsonValue> {
  const parts = partsOf(stored)
  if (parts.length === 0) return stored
  const values = new Map<string, JsonValue>()
  for (const { ref } of parts) values.set(ref, await read(ref))
  return withParts(withoutParts(stored as JsonObject), parts, values)
}

const BYTES_MAX = 64 * 1024 * 1024

/** Those that a path into the data of the loop reads; small parts are at hand. */
export function partsRead(data: JsonValue, parts: readonly Part[], keys: readonly string[]): readonly Part[] {
  const [list, place, key] = keys
  if (list !== undefined && list !== 'results' && list !== 'data') return NONE
  const read = place !== undefined && /^\d+$/.test(place) ? parts.filter(({ index }) => index === Number(place)) : parts
  if (read !== parts && key !== undefined && hasSmall(data, Number(place), key)) return NONE
  return read
}

function hasSmall(data: JsonValue, index: number, key: string): boolean {
  const results = isJsonObject(data) ? data['results'] : undefined
  const kept = Array.isArray(results) ? results[index] : undefined
  return isJsonObject(kept) && Object.hasOwn(kept, key)
}

/** A decision holds what it reads in memory. */
export function checkSize(parts: readonly Part[], step: string): void {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes <= BYTES_MAX) return
  const size = Math.ceil(bytes / 1024 / 1024)
  const advice = 'hand them to a tool as {{ <step>.results }}, or read single ones'
  throw new StepFailure(
    engineError('storage', `the results of step "${step}" are ${size} MB, too much for a template: ${advice}`),
  )
}
