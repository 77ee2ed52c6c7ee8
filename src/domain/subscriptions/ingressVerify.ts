// Who may push: a signature over the exact bytes of the body, or a bearer token. Comparisons take the same time
// whatever differs; encodings that are not canonical are refused, so that a signature has one spelling per form.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { CpError } from '../../errors.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { IngressVerify } from './subscriptionSpec.js'

export interface IngressRules {
  verify: IngressVerify
  /** Optional protection against replays: the header with the time of sending, part of what is signed. */
  timestamp?: { header: string; toleranceSeconds: number }
}

export interface IngressHead {
  header(name: string): string | undefined
  nowMs: number
}

export interface IngressRequest extends IngressHead {
  body: Uint8Array
}

const TOLERANCE_SECONDS_DEFAULT = 300

/** `ingress` as it stands in the document: the optional keys are read only here. */
export function ingressRules(verify: IngressVerify, ingress: JsonObject): IngressRules {
  const written = isJsonObject(ingress['verify']) ? ingress['verify'] : {}
  const header = written['timestamp_header']
  if (typeof header !== 'string' || header.trim() === '') return { verify }
  const toleranceSeconds = seconds(written['tolerance_secs']) ?? TOLERANCE_SECONDS_DEFAULT
  return { verify, timestamp: { header: header.trim().toLowerCase(), toleranceSeconds } }
}

function seconds(value: JsonValue | undefined): number | undefined {
  const number = value instanceof Float ? value.value : value
  return typeof number === 'number' && number > 0 ? number : undefined
}

/**
 * What the headers alone tell, so that no body is read for nothing. True: the caller is known, whatever the body says.
 * Throws `unverified` without a word on what exactly was wrong beyond what the caller can see itself.
 */
export function verifyHead(rules: IngressRules, secret: string, head: IngressHead): boolean {
  const { verify } = rules
  if (verify.type === 'bearer') {
    const presented = /^bearer +([\x21-\x7e]+) *$/i.exec(head.header('authorization') ?? '')?.[1]
    if (presented === undefined || !sameText(presented, secret)) {
      throw new CpError('unverified', 'send the header "Authorization: Bearer <token>" with the token of this listener')
    }
    return true
  }
  if (verify.type === 'pubsub_oidc') {
    throw new CpError('refused', 'this version does not check pubsub_oidc tokens; use hmac_sha256 or bearer')
  }
  if (rules.timestamp !== undefined) checkedTime(rules.timestamp, head)
  if (decodeSignature(head.header(verify.header)) === undefined) throw noSignature(verify.header)
  return false
}

export function verifyIngress(rules: IngressRules, secret: string, request: IngressRequest): void {
  const { verify } = rules
  if (verifyHead(rules, secret, request) || verify.type !== 'hmac_sha256') return
  const signed = signedBytes(rules, request)
  const presented = decodeSignature(request.header(verify.header))
  const expected = createHmac('sha256', secret).update(signed).digest()
  if (presented === undefined || !timingSafeEqual(presented, expected)) throw noSignature(verify.header)
}

function noSignature(header: string): CpError {
  return new CpError('unverified', `the header ${header} holds no valid hmac-sha256 signature of the body`)
}

/** With a timestamp the signature is over `<timestamp>.<body>`, so that neither can be changed alone. */
function signedBytes({ timestamp }: IngressRules, request: IngressRequest): Uint8Array {
  if (timestamp === undefined) return request.body
  return Buffer.concat([Buffer.from(`${checkedTime(timestamp, request)}.`), request.body])
}

function checkedTime(timestamp: NonNullable<IngressRules['timestamp']>, { header, nowMs }: IngressHead): string {
  const text = header(timestamp.header) ?? ''
  const sent = /^\d{9,13}$/.test(text) ? Number(text) * (text.length > 11 ? 1 : 1000) : Number.NaN
  if (!(Math.abs(nowMs - sent) <= timestamp.toleranceSeconds * 1000)) {
    throw new CpError(
      'unverified',
      `the header ${timestamp.header} must hold the present time in Unix seconds, within ${timestamp.toleranceSeconds} s`,
    )
  }
  return text
}

/** 64 hex digits or 44 characters of base64, after an optional prefix such as `sha256=` or `v1=`. */
function decodeSignature(header: string | undefined): Buffer | undefined {
  const text = (header ?? '').trim().replace(/^(?:sha256|v\d|hmac-sha256)=/i, '')
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === 32 && bytes.toString('base64') === text ? bytes : undefined
}

function sameText(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}
