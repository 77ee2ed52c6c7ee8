// Whether the payloads that a state refers to can be read, and what they are: checksum, size, row count,
// type. Never the payload itself. Reading is somebody else's work. The report is not hashed.

import { canonicalChecksum, canonicalJson, sha256Hex } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { locatorOf, type PayloadReference } from './payloadReferences.js'
import { summarizePayload } from './payloadSummary.js'
import type { FoldProfile } from './profile.js'

export interface PayloadRequest {
  locator: string
  /** What a payload store is asked for: the locator, or the whole reference of a kind it understands. */
  input: JsonValue
}

export type PayloadAnswer = { value: JsonValue } | { error: string }

export type Resolution = {
  ref: string
  resolved: boolean
  checksum: string | null
  size_bytes: number | null
  row_count: number | null
  value_type: string | null
  error: string | null
}

export interface ResolutionReport {
  payload_resolution: JsonObject[]
  payload_resolution_summary: JsonObject
}

const WHOLE_REFERENCE_KINDS = new Set<JsonValue>(['temp_ref', 'result_ref', 'manifest'])

function planResolution(references: readonly PayloadReference[]): PayloadRequest[] {
  const requests = new Map<string, PayloadRequest>()
  for (const { reference } of references) {
    const locator = locatorOf(reference)
    if (!locator || requests.has(locator)) continue
    requests.set(locator, { locator, input: storeInput(reference, locator) })
  }
  return Array.from(requests.values())
}

function storeInput(reference: JsonValue, locator: string): JsonValue {
  if (!isJsonObject(reference)) return locator
  if (WHOLE_REFERENCE_KINDS.has(reference['kind'] ?? null)) return reference
  return isJsonObject(reference['rows_ref']) ? reference['rows_ref'] : locator
}

/** Asks for each payload once, one after the other: none is kept longer than it takes to measure it. */
export async function resolvePayloads(
  references: readonly PayloadReference[],
  read: (request: PayloadRequest) => PayloadAnswer | Promise<PayloadAnswer>,
  profile: FoldProfile,
): Promise<ResolutionReport> {
  const byLocator = new Map<string, Resolution>()
  for (const request of planResolution(references)) {
    byLocator.set(request.locator, resolutionOf(request.locator, await read(request)))
  }
  const rows = references.map((entry): JsonObject => {
    const { reference, ...place } = entry
    const resolution = byLocator.get(locatorOf(reference) ?? '') ?? NO_LOCATOR
    return { ...place, reference_summary: summarizePayload(reference, profile), resolution }
  })
  return { payload_resolution: rows, payload_resolution_summary: summaryOf(rows, byLocator) }
}

const BLANK = { checksum: null, size_bytes: null, row_count: null, value_type: null }
const NO_LOCATOR: Resolution = {
  ref: '',
  resolved: false,
  ...BLANK,
  error: 'payload reference has no resolvable locator',
}

function resolutionOf(locator: string, answer: PayloadAnswer): Resolution {
  if ('error' in answer) return { ref: locator, resolved: false, ...BLANK, error: answer.error }
  const text = canonicalJson(answer.value)
  return {
    ref: locator,
    resolved: true,
    checksum: sha256Hex(text),
    size_bytes: text.length,
    row_count: rowCountOf(answer.value),
    value_type: typeNameOf(answer.value),
    error: null,
  }
}

function summaryOf(rows: readonly JsonObject[], byLocator: ReadonlyMap<string, Resolution>): JsonObject {
  let resolved = 0
  for (const row of rows) if ((row['resolution'] as Resolution).resolved) resolved++
  const refs = Array.from(byLocator.keys())
  const counts = { total: rows.length, resolved, unresolved: rows.length - resolved }
  const all_resolved = resolved === rows.length
  const unique_refs = refs.sort(compareCodePoints)
  const checksum = canonicalChecksum({ ...counts, unique_refs, all_resolved, rows: rows.slice() })
  return { ...counts, unique_refs: refs.length, all_resolved, checksum }
}

function rowCountOf(value: JsonValue): number | null {
  if (Array.isArray(value)) return value.length
  const rows = isJsonObject(value) ? value['rows'] : null
  return Array.isArray(rows) ? rows.length : null
}

/** Type names as the stored reports have always used them. */
function typeNameOf(value: JsonValue): string {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Float) return 'float'
  switch (typeof value) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'object':
      return 'dict'
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float'
    default:
      return 'int'
  }
}
