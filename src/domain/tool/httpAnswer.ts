// An HTTP answer as data, and what its status means.

import { parseJsonStrict } from '../json/parse.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { type FailureKind, ToolFailure } from './toolFailure.js'

export interface HttpAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: JsonObject
  readonly body: Buffer
  /** After redirects. */
  readonly url: string
  readonly elapsedMs: number
}

export type ResponseType = 'auto' | 'json' | 'text' | 'bytes'

const DEPTH_MAX = 500

/** Throws for a status that is no success; the data is part of the failure. */
export function readHttpAnswer(answer: HttpAnswer, type: ResponseType, nowMs: number): JsonObject {
  const parsed = parseBody(answer, type)
  const data: JsonObject = {
    status_code: answer.status,
    headers: answer.headers,
    data: parsed,
    body: parsed,
    url: answer.url,
    elapsed_ms: answer.elapsedMs,
  }
  if (answer.status >= 200 && answer.status < 300) return data
  throw new ToolFailure(kindOf(answer.status), `HTTP ${answer.status} response`, {
    code: `HTTP_${answer.status}`,
    httpStatus: answer.status,
    retryAfterSeconds: retryAfterOf(answer.headers['retry-after'], nowMs),
    data,
    http: httpFacts(answer),
  })
}

export function httpFacts({ status, headers }: HttpAnswer): JsonObject {
  return { status, headers }
}

function kindOf(status: number): FailureKind {
  if (status === 429) return 'rate_limit'
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'not_found'
  if (status === 408) return 'timeout'
  return status >= 500 ? 'server_error' : 'client_error'
}

function retryAfterOf(value: JsonValue | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}

function parseBody(answer: HttpAnswer, type: ResponseType): JsonValue {
  const { body } = answer
  if (type === 'bytes') return body.toString('base64')
  const contentType = String(answer.headers['content-type'] ?? '').toLowerCase()
  const text = decode(body, contentType)
  // What is not text has no other form in JSON.
  if (text === undefined) return body.toString('base64')
  if (type === 'text') return text
  const trimmed = text.trim()
  if (type === 'json') return parsedStrictly(trimmed)
  const looksLikeJson = /[/+]json\b/.test(contentType) || trimmed.startsWith('{') || trimmed.startsWith('[')
  if (!looksLikeJson || trimmed === '') return text
  try {
    return parseJsonStrict(trimmed, { maxDepth: DEPTH_MAX })
  } catch {
    return text
  }
}

function parsedStrictly(text: string): JsonValue {
  try {
    return parseJsonStrict(text, { maxDepth: DEPTH_MAX })
  } catch (error) {
    throw new ToolFailure('parse', `the body is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** Undefined for bytes that are no text of their charset. */
function decode(body: Buffer, contentType: string): string | undefined {
  const charset = /charset=["']?([\w-]+)/.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}
