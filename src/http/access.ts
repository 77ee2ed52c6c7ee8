// Who may call what. Tokens are compared in constant time, two may be valid while one is rotated, and an
// open loopback API still checks Host and Origin, so that a web page cannot reach it through the browser.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { CpError } from '../errors.js'
import type { Access } from './route.js'

export interface AccessSettings {
  internalTokens: readonly string[]
  apiTokens: readonly string[]
  /** Names accepted in Host and Origin besides loopback ones. */
  allowedHosts: readonly string[]
  /** True when the operator allowed an open API on a public address. */
  allowAnyHost: boolean
}

export function checkAccess(access: Access, headers: IncomingHttpHeaders, settings: AccessSettings): void {
  if (access === 'open') return
  if (access === 'internal') {
    if (settings.internalTokens.length === 0) {
      throw new CpError('unavailable', 'internal routes are closed: NOETL_INTERNAL_API_TOKEN is not set')
    }
    requireToken(headers, settings.internalTokens)
    return
  }
  if (settings.apiTokens.length > 0) {
    requireToken(headers, [...settings.apiTokens, ...settings.internalTokens])
    return
  }
  if (!settings.allowAnyHost) requireLocalCaller(headers, settings.allowedHosts)
}

function requireToken(headers: IncomingHttpHeaders, accepted: readonly string[]): void {
  const presented = /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (presented === undefined) throw new CpError('forbidden', 'send the header "Authorization: Bearer <token>"')
  let matched = false
  // Every candidate is compared, so the time taken does not tell which one was close.
  for (const token of accepted) matched = equalInConstantTime(presented, token) || matched
  if (!matched) throw new CpError('forbidden', 'the token is not valid here')
}

function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest())
}

function requireLocalCaller(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  const host = hostName(`http://${headers.host ?? ''}`)
  if (host === undefined || !isAllowed(host, allowedHosts)) {
    throw new CpError(
      'forbidden',
      `the Host header ${JSON.stringify(headers.host ?? '')} is not a loopback name; set NOETL_API_TOKEN, or add the name to NOETL_CP_ALLOWED_HOSTS`,
    )
  }
  if (headers.origin === undefined) return
  const origin = hostName(headers.origin)
  if (origin === undefined || !isAllowed(origin, allowedHosts)) {
    throw new CpError('forbidden', `calls from the origin ${JSON.stringify(headers.origin)} are not allowed`)
  }
}

function hostName(url: string): string | undefined {
  try {
    return new URL(url).hostname.toLowerCase()
  } catch {
    return undefined
  }
}

function isAllowed(host: string, allowedHosts: readonly string[]): boolean {
  return isLoopbackName(host) || allowedHosts.some((allowed) => allowed.toLowerCase() === host)
}

export function isLoopbackName(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare)
}
