// What an event says about data that is stored elsewhere: where it is, and those parts of it that are small. Templates that
// read only such parts never need the rest.
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { jsonWeight } from '../json/weight.js'

const EXTRACTED_BYTES_MAX = 8_192
const MEMBER_BYTES_MAX = 1_024

/** A part of the data that its author wants at hand. */
export interface Selected {
  /** Dotted. */
  path: string
  as: string
}

/** `stored`: what the store answered. */
export function referenceDocument(stored: JsonObject, data: JsonValue, selected: readonly Selected[] = []): JsonObject {
  const { ref, store, scope, bytes, sha256, expires_at: expiresAt } = stored
  return {
    kind: 'result_ref',
    ref: ref ?? null,
    store: store ?? null,
    scope: scope ?? null,
    meta: { bytes: bytes ?? null, sha256: sha256 ?? null, content_type: 'application/json' },
    extracted: extractedOf(data, selected),
    expires_at: expiresAt ?? null,
  }
}

function extractedOf(data: JsonValue, selected: readonly Selected[]): JsonObject {
  const extracted: JsonObject = {}
  let room = EXTRACTED_BYTES_MAX
  const add = (key: string, value: JsonValue | undefined, max = MEMBER_BYTES_MAX): void => {
    if (value === undefined || Object.hasOwn(extracted, key)) return
    const weight = key.length + jsonWeight(value)
    if (weight > max || weight > room) return
    room -= weight
    setKey(extracted, key, value)
  }
  for (const { path, as } of selected) add(as, at(data, path), EXTRACTED_BYTES_MAX)
  if (Array.isArray(data)) {
    const [first] = data
    add('row_count', data.length)
    if (isJsonObject(first)) add('columns', Object.keys(first))
    add('first', first)
  } else if (isJsonObject(data)) {
    for (const key of Object.keys(data)) add(key, data[key])
  }
  return extracted
}

function at(data: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = data
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? value[Number(key)] : undefined
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

/** `output_select`: a text is a path whose last part is the name. */
export function readSelected(value: JsonValue | undefined): Selected[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item): Selected[] => {
    if (typeof item === 'string') return [{ path: item, as: item.split('.').at(-1) ?? item }]
    if (!isJsonObject(item)) return []
    const { path, as } = item
    if (typeof path !== 'string') return []
    return [{ path, as: typeof as === 'string' ? as : (path.split('.').at(-1) ?? path) }]
  })
}
