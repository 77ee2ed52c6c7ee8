// Decides who may call what. Tokens are compared in constant time; two may be valid while one is rotated. An API
// without a token checks Host, Origin and Sec-Fetch-Site, so that a web page cannot reach it through a browser: not
// from another site, not from another port of this machine, and not by a name that was rebound to our address.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopbackName } from '../domain/access/loopback.js'
import { CpError } from '../errors.js'
import type { RouteSpec } from './route.js'

export interface AccessSettings {
  internalTokens: readonly string[]
  /** Configured: every call of the public API needs one. */
  apiTokens: readonly string[]
  /** Made by ourselves: good wherever an API token is, and asked for where a write needs one. */
  ownTokens: readonly string[]
  /** Names, or name:port, accepted in Host and Origin besides our own. */
  allowedHosts: readonly string[]
  /** Origins whose web pages may call, exactly as browsers send them. */
  corsOrigins: readonly string[]
  /** Listens on a loopback address only: then Host must be a name of this machine, on open routes as well. */
  isLocal: boolean
  /** Asked with every write: it becomes true when the first credential is stored. */
  writesNeedToken(): boolean
}

export type GuardedRoute = Pick<RouteSpec, 'access' | 'method' | 'readOnly'>

export function checkAccess(route: GuardedRoute, headers: IncomingHttpHeaders, settings: AccessSettings): void {
  if (route.access === 'internal') {
    if (settings.internalTokens.length === 0) {
      throw new CpError('unavailable', 'internal routes are closed: NOETL_INTERNAL_API_TOKEN is not set')
    }
    requireToken(headers, settings.internalTokens)
    return
  }
  const isOpenApi = settings.apiTokens.length === 0
  if (route.access === 'page') {
    if (isOpenApi) requireOwnHost(headers, settings)
    return
  }
  if (route.access === 'open') {
    if (isOpenApi && settings.isLocal) requireOwnCaller(headers, settings)
    return
  }
  if (!isOpenApi) {
    requireToken(headers, [...settings.apiTokens, ...settings.ownTokens, ...settings.internalTokens])
    return
  }
  requireOwnCaller(headers, settings)
  if (isWrite(route) && settings.writesNeedToken()) requireWriteToken(headers, settings)
}

function isWrite(route: GuardedRoute): boolean {
  return route.method !== 'GET' && route.readOnly !== true
}

function requireWriteToken(headers: IncomingHttpHeaders, settings: AccessSettings): void {
  const accepted = [...settings.ownTokens, ...settings.internalTokens]
  if (accepted.length === 0) {
    throw new CpError(
      'forbidden',
      'writes need a token here, because code can be started or a credential is stored; set NOETL_API_TOKEN and start again',
    )
  }
  requireToken(headers, accepted)
}

const WHERE_TOKENS_ARE =
  'it is what the daemon was given (NOETL_API_TOKEN, NOETL_INTERNAL_API_TOKEN), or made itself and keeps in secrets.json of its data folder'

function requireToken(headers: IncomingHttpHeaders, accepted: readonly string[]): void {
  const presented = presentedToken(headers)
  if (presented === undefined) {
    throw new CpError('forbidden', `send the header "Authorization: Bearer <token>"; ${WHERE_TOKENS_ARE}`)
  }
  if (!isOneOf(presented, accepted)) throw new CpError('forbidden', `the token is not valid here; ${WHERE_TOKENS_ARE}`)
}

/** Whether the caller showed the internal token, wherever that is not demanded. */
export function hasInternalToken(headers: IncomingHttpHeaders, settings: AccessSettings): boolean {
  const presented = presentedToken(headers)
  return presented !== undefined && isOneOf(presented, settings.internalTokens)
}

function presentedToken(headers: IncomingHttpHeaders): string | undefined {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1]
}

/** Every candidate is compared, so the time taken does not tell which one was close. */
function isOneOf(presented: string, accepted: readonly string[]): boolean {
  let matched = false
  for (const token of accepted) matched = equalInConstantTime(presented, token) || matched
  return matched
}

function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest())
}

const SHOWN_MAX = 100

/** No web page of another place, and no name that only a rebound DNS entry would bring here. */
function requireOwnCaller(headers: IncomingHttpHeaders, settings: AccessSettings): void {
  requireOwnHost(headers, settings)
  if (headers.origin !== undefined) {
    if (settings.corsOrigins.includes(headers.origin)) return
    const origin = parseUrl(headers.origin)
    if (origin === undefined || !(isListed(origin, settings) || isOwnOrigin(origin, headers.host ?? '', settings))) {
      throw new CpError(
        'forbidden',
        `calls from the origin ${shown(headers.origin)} are not allowed; add it to NOETL_CP_CORS_ORIGINS if the page is yours`,
      )
    }
    return
  }
  // Browsers say where a call comes from also where they send no Origin: images, scripts, links, plain GETs.
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new CpError('forbidden', 'calls from pages of other sites are not allowed')
  }
}

function requireOwnHost(headers: IncomingHttpHeaders, settings: AccessSettings): void {
  const host = parseHost(headers.host)
  if (settings.isLocal && (host === undefined || !(isLoopbackName(host.hostname) || isListed(host, settings)))) {
    throw new CpError(
      'forbidden',
      `the Host header ${shown(headers.host)} is not a loopback name; set NOETL_API_TOKEN, or add the name to NOETL_CP_ALLOWED_HOSTS`,
    )
  }
}

/** The page came from us: the same port, and a name that cannot have been rebound. */
function isOwnOrigin(origin: URL, hostHeader: string, settings: AccessSettings): boolean {
  const host = parseHost(hostHeader, origin.protocol)
  if (host === undefined || host.port !== origin.port) return false
  if (isLoopbackName(host.hostname) && isLoopbackName(origin.hostname)) return true
  return !settings.isLocal && host.hostname === origin.hostname && isAddress(host.hostname)
}

function isListed(url: URL, { allowedHosts }: AccessSettings): boolean {
  return allowedHosts.some((allowed) => {
    const name = allowed.toLowerCase()
    return name === url.hostname || name === url.host
  })
}

/** The scheme decides which port is left out. */
function parseHost(header: string | undefined, protocol = 'http:'): URL | undefined {
  return header !== undefined && /^[\w.:[\]-]+$/.test(header) ? parseUrl(`${protocol}//${header}`) : undefined
}

function parseUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}

function shown(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, SHOWN_MAX))
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
