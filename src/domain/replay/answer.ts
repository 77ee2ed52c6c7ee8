// The answer to a replay as JSON: the state document, and beside it, outside everything that is hashed, what
// has to be said about the answer itself. Keys are in canonical order, so one state has one text, whether it
// was folded at once or continued from a seed.

import { canonicalJson } from '../json/canonical.js'
import { integerValue, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { redact } from '../secrets/redact.js'
import { type SecretRules, secretRules } from '../secrets/secretNames.js'
import type { FoldResult } from './foldTypes.js'
import type { ResolutionReport } from './payloadResolution.js'
import type { FoldProfile } from './profile.js'

export interface AnswerOptions {
  profile: FoldProfile
  /** `always`: also when there is nothing to say. Documents of other profiles than `cp` never carry remarks. */
  remarks: 'always' | 'whenNeeded'
  ids: 'number' | 'string'
  /** Hide secrets, with these further names; the checksums are those of the state before. null hides nothing. */
  secretNames: readonly string[] | null
}

/** How much of the log the answer rests on. */
export interface Extent {
  /** A limit left events out; the first of them is the next. */
  truncated: boolean
  nextEventId: string | null
  /** The answer to the same question may be another later on. */
  mayChange: boolean
}

export interface Answer {
  /** JSON in UTF-8. */
  bytes: Uint8Array
  isRedacted: boolean
}

/** `payloads`: the report about them, if it was asked for. */
export function answerBytes(
  result: FoldResult,
  extent: Extent,
  options: AnswerOptions,
  payloads?: ResolutionReport,
): Answer {
  // Addresses of payloads and unknown types of events may have a password in them.
  const beside = shownBeside({ ...remarksOf(result, extent, options), ...payloads }, options)
  const clean = options.secretNames === null ? undefined : withoutSecrets(result.state, options.secretNames)
  const isRedacted = clean !== undefined && clean !== result.state
  if (isRedacted || options.ids === 'string' || options.profile === 'server')
    return rewritten({ ...(clean ?? result.state), ...beside }, options, isRedacted)
  Object.assign(beside, {
    checksum: result.checksum,
    checksum_algorithm: 'sha256',
    projection_checksums: result.projectionChecksums,
  })
  // Canonical text has a word for infinity, JSON has none. A database cannot hold it, a file can.
  if (result.canonicalBytes === null && INFINITE.test(result.canonicalText())) {
    return rewritten({ ...result.state, ...beside }, options, false)
  }
  // The hashed text is the document but for these keys. Writing it again from objects takes several times longer.
  const head = Buffer.from(`${canonicalJson(beside).slice(0, -1)},`)
  const [first, ...rest] = result.canonicalBytes ?? [Buffer.from(result.canonicalText(), 'latin1')]
  return { bytes: Buffer.concat([head, first!.subarray(1), ...rest]), isRedacted: false }
}

function shownBeside(beside: JsonObject, { secretNames }: AnswerOptions): JsonObject {
  return secretNames === null ? beside : { ...withoutSecrets(beside, secretNames) }
}

const INFINITE = /[:,[]-?Infinity[,\]}]/

function rewritten(document: JsonObject, options: AnswerOptions, isRedacted: boolean): Answer {
  const plain = options.ids === 'string' ? idsAsText(document) : document
  return { bytes: Buffer.from(writeJson(plain)), isRedacted }
}

/** The events of others may hold secrets that nobody took out. The very same state when there are none. */
export function withoutSecrets(state: JsonObject, names: readonly string[]): JsonObject {
  return redact(state, stateRules(names)) as JsonObject
}

/** A state is mostly ids, times and names of states, one of each per event: they are not looked into. */
export function stateRules(names: readonly string[]): SecretRules {
  const rules = secretRules(names)
  return { ...rules, isPlain: (name) => PLAIN.test(name) }
}

const PLAIN = /(?:_id|_at|_time|_key|_version|checksum|status|state|kind|node_name)$/

function remarksOf(result: FoldResult, extent: Extent, options: AnswerOptions): JsonObject {
  if (options.profile !== 'cp') return {}
  const warnings = warningsOf(result)
  const remarks: JsonObject = {}
  if (extent.truncated || options.remarks === 'always') {
    remarks['truncated'] = extent.truncated
    remarks['next_event_id'] = extent.nextEventId === null ? null : idValue(extent.nextEventId)
  }
  if (extent.mayChange || options.remarks === 'always') remarks['may_change'] = extent.mayChange
  if (warnings.length > 0 || options.remarks === 'always') remarks['warnings'] = warnings
  return remarks
}

/** What the fold noticed, unknown event types included. */
export function warningsOf(result: Pick<FoldResult, 'warnings' | 'unknownTypes'>): JsonObject[] {
  const noticed = result.warnings.map(
    ({ kind, field, count, firstEventIds }): JsonObject => ({
      kind,
      field,
      count,
      first_event_ids: firstEventIds.map(idValue),
    }),
  )
  const unknown = result.unknownTypes.types.map(
    ({ eventType, count, firstEventId }): JsonObject => ({
      kind: 'unknown_event_type',
      field: eventType,
      count,
      first_event_ids: firstEventId === null ? [] : [idValue(firstEventId)],
    }),
  )
  return [...noticed, ...unknown]
}

function idValue(text: string): JsonValue {
  return integerValue(BigInt(text))
}

const ID_KEY = /(?:^|_)(?:event_id|execution_id)$/

/** Integers under names of event and execution ids as text; what users put into their payloads stays as it is. */
export function idsAsText(value: JsonValue): JsonObject {
  return convert(value) as JsonObject
}

function convert(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(convert)
  if (!isJsonObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = value[key]!
    const isData = key === 'attributes' || key === 'reference' || key === 'output_ref' || key === 'cursor'
    setKey(copy, key, isData ? item : ID_KEY.test(key) ? idText(item) : convert(item))
  }
  return copy
}

function idText(value: JsonValue): JsonValue {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  return isInteger ? String(value) : value
}
