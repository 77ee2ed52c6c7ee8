// A result between its JSON and its bytes in the store. Reading and compressing tens of MB is not for the main loop.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { isStorable } from '../../../domain/events/storableText.js'
import { parseJsonStrict } from '../../../domain/json/parse.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { RESULT_NAME_LENGTH_MAX } from '../../../domain/results/resultRef.js'
import { redact, redactJson } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { CpError } from '../../../errors.js'

const JSON_DEPTH_MAX = 200
const BYTES_MAX = 1_000_000_000
/** About 3,000 years: the time at which it ends is one that can be written, up to the year 9999. */
export const TTL_SECONDS_MAX = 100_000_000_000

export interface PackInput {
  /** `{name, data, scope?, source_step?, ttl_seconds?}` as JSON. */
  body: Uint8Array
  /** Further names of secrets; null: nothing counts as one. */
  secretNames: readonly string[] | null
  /** What has secrets in it will be sealed. Otherwise they are taken out. */
  canSeal: boolean
}

export interface Packed {
  name: string
  scope: string
  sourceStep: string | null
  ttlSeconds: number | null
  data: Uint8Array
  hasSecrets: boolean
  bytes: number
  sha256: string
}

export function packResult({ body, secretNames, canSeal }: PackInput): Packed {
  const given = readBody(body)
  const name = textAt(given, 'name', RESULT_NAME_LENGTH_MAX) ?? bad('/name must be a text')
  const whole = given['data'] as JsonValue
  const shown = secretNames === null ? whole : redact(whole, secretRules(secretNames))
  const hasSecrets = shown !== whole
  const text = Buffer.from(writeJson(hasSecrets && !canSeal ? shown : whole))
  return {
    name,
    scope: textAt(given, 'scope', RESULT_NAME_LENGTH_MAX) ?? 'execution',
    sourceStep: textAt(given, 'source_step', RESULT_NAME_LENGTH_MAX) ?? null,
    ttlSeconds: secondsAt(given),
    // Level 1: three quarters of what the default saves at a quarter of its time.
    data: new Uint8Array(gzipSync(text, { level: 1 })),
    hasSecrets,
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  }
}

function readBody(body: Uint8Array): JsonObject {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return bad('the body is not valid UTF-8')
  }
  const given = parseJsonStrict(text, { maxDepth: JSON_DEPTH_MAX })
  if (!isJsonObject(given)) return bad('the body must be an object')
  if (!Object.hasOwn(given, 'data')) return bad('/data is missing')
  return given
}

function bad(message: string): never {
  throw new CpError('invalid_input', message)
}

function textAt(given: JsonObject, key: string, lengthMax: number): string | undefined {
  const value = given[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '') return bad(`/${key} must be a text`)
  if (value.length > lengthMax) return bad(`/${key} has more than ${lengthMax} characters`)
  // Postgres cannot keep it, and half a character has no place in a reference.
  if (!isStorable(value)) return bad(`/${key} must not contain NUL or half a character`)
  return value
}

function secondsAt({ ttl_seconds: given }: JsonObject): number | null {
  if (given === undefined || given === null) return null
  // Python writes 60.0, which is a number like any other.
  const seconds = given instanceof Float ? given.value : given
  const isNumber = typeof seconds === 'number' || typeof seconds === 'bigint'
  if (!isNumber || !(seconds > 0 && seconds <= TTL_SECONDS_MAX)) {
    return bad(
      `/ttl_seconds must be a number above 0 and at most ${TTL_SECONDS_MAX}; without it the result stays as long as its execution`,
    )
  }
  return Number(seconds)
}

/** The JSON text in UTF-8, as it may be shown unless `secretNames` is null. */
export function unpackResult(input: { data: Uint8Array; isPacked: boolean; secretNames: readonly string[] | null }): {
  bytes: Uint8Array
} {
  const bytes = input.isPacked ? gunzipSync(input.data, { maxOutputLength: BYTES_MAX }) : Buffer.from(input.data)
  if (input.secretNames === null) return { bytes: new Uint8Array(bytes) }
  return { bytes: new TextEncoder().encode(redactJson(bytes.toString('utf8'), secretRules(input.secretNames))) }
}
