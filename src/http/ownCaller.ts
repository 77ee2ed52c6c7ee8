// Keeps web pages of other places out, by what browsers say of a call: Host, Origin and Sec-Fetch-Site. Not from another
// site, not from another port of this machine, and not by a name that was rebound to our address.
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopbackName } from '../domain/access/loopback.js'
import { CpError } from '../errors.js'

export interface OriginSettings {
  /** Names, or name:port, accepted in Host and Origin besides our own. */
  allowedHosts: readonly string[]
  /** Origins whose web pages may call, exactly as browsers send them. */
  corsOrigins: readonly string[]
  /** Listens on a loopback address only: then Host must be a name of this machine, on open routes as well. */
  isLocal: boolean
}

const SHOWN_MAX = 100
/** As long as the name of a host can be. */
const HOST_MAX = 253

/** No web page of another place, and no name that only a rebound DNS entry would bring here. */
export function requireOwnCaller(headers: IncomingHttpHeaders, settings: OriginSettings): void {
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

export function requireOwnHost(headers: IncomingHttpHeaders, settings: OriginSettings): void {
  const host = parseHost(headers.host)
  if (settings.isLocal && (host === undefined || !(isLoopbackName(host.hostname) || isListed(host, settings)))) {
    throw new CpError(
      'forbidden',
      `the Host header ${shown(headers.host)} is not a loopback name; set NOETL_API_TOKEN, or add the name to NOETL_CP_ALLOWED_HOSTS`,
      // The name that would be listed; null where there is none that could be.
      { details: { foreignHost: host === undefined || host.hostname.length > HOST_MAX ? null : host.hostname } },
    )
  }
}

/** Whether a page that we served, or no page at all, may have made the call. What a cookie says counts only then. */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return headers.origin === undefined || isOriginOfHost(headers)
}

/**
 * Before a browser acts by its cookie: the page is ours, and it set a header that a page of another place cannot set
 * without asking us first, which we never grant.
 */
export function requireOwnPage(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site']
  const isOurs = site === undefined ? isOriginOfHost(headers) : site === 'same-origin'
  if (isOurs && headers['x-noetl-csrf'] === '1') return
  throw new CpError(
    'forbidden',
    'a session may act only from a page of the console: Sec-Fetch-Site must be same-origin, or Origin equal to Host, and X-Noetl-Csrf must be 1; programs send "Authorization: Bearer <token>" instead',
  )
}

function isOriginOfHost({ origin: text, host: header }: IncomingHttpHeaders): boolean {
  const origin = text === undefined ? undefined : parseUrl(text)
  return origin !== undefined && parseHost(header, origin.protocol)?.host === origin.host
}

/** A web page made the call, and not one that was listed. */
export function isFromBrowser(headers: IncomingHttpHeaders, { corsOrigins }: OriginSettings): boolean {
  if (headers.origin !== undefined) return !corsOrigins.includes(headers.origin)
  return headers['sec-fetch-site'] !== undefined
}

/** The page came from us: the same port, and a name that cannot have been rebound. */
function isOwnOrigin(origin: URL, hostHeader: string, settings: OriginSettings): boolean {
  const host = parseHost(hostHeader, origin.protocol)
  if (host === undefined || host.port !== origin.port) return false
  if (isLoopbackName(host.hostname) && isLoopbackName(origin.hostname)) return true
  return !settings.isLocal && host.hostname === origin.hostname && isAddress(host.hostname)
}

function isListed(url: URL, { allowedHosts }: OriginSettings): boolean {
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
