// Fetches a payload that lies with another installation, from hosts that are listed, within a time and a size.
import { messageOf } from '../../../errors.js'

export const CLAIM_CHECK_BYTES_MAX = 64 * 1024 * 1024

export type Fetched =
  | { kind: 'found'; bytes: Uint8Array }
  /** Not now: try again. */
  | { kind: 'later'; reason: string }
  /** Never: the address is wrong, or the server says so. */
  | { kind: 'refused'; reason: string }

/** `withinMs`: when less time is left than one payload usually has. */
export type PayloadFetch = (url: string, withinMs?: number) => Promise<Fetched>

export interface FetchSettings {
  /** Hosts (or host:port) that may be asked: whoever may publish to the stream chooses the address. */
  hosts: readonly string[]
  /** Our own address, which needs no place on the list. */
  publicUrl: string | undefined
  token: string | undefined
  /** Of one payload, from the first byte sent to the last one read. */
  deadlineMs: number
  bytesMax: number
}

export function createPayloadFetch(settings: FetchSettings): PayloadFetch {
  const hosts = settings.hosts.map((host) => host.toLowerCase())
  const ownOrigin = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).origin
  const isAllowed = (url: URL) => hosts.includes(url.hostname) || hosts.includes(url.host) || url.origin === ownOrigin
  return async (address, withinMs = settings.deadlineMs) => {
    const url = parseUrl(address)
    if (url === undefined)
      return { kind: 'refused', reason: `${address.slice(0, 200)} is not an http or https address` }
    if (url.username !== '' || url.password !== '')
      return {
        kind: 'refused',
        reason: `the address at ${url.host} names a user; credentials do not travel in messages`,
      }
    if (!isAllowed(url))
      return { kind: 'refused', reason: `${url.host} is not one of NOETL_CP_CLAIM_CHECK_HOSTS; add it if it is yours` }
    try {
      const answer = await fetch(url, {
        signal: AbortSignal.timeout(Math.min(withinMs, settings.deadlineMs)),
        redirect: 'error',
        headers: settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` },
      })
      if (answer.status !== 200) return refusalOf(answer.status, url)
      return await readBody(answer, settings.bytesMax, url)
    } catch (error) {
      return { kind: 'later', reason: `${url.host} does not answer: ${messageOf((error as Error).cause ?? error)}` }
    }
  }
}

function parseUrl(address: string): URL | undefined {
  try {
    const url = new URL(address)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}

// Too slow, too early, too many: these say "later" although they begin with 4.
const NOT_NOW = new Set([408, 425, 429])

function refusalOf(status: number, url: URL): Fetched {
  const reason = `${url.host} answered ${status} for ${url.pathname}`
  return status >= 400 && status < 500 && !NOT_NOW.has(status) ? { kind: 'refused', reason } : { kind: 'later', reason }
}

async function readBody(answer: Response, bytesMax: number, url: URL): Promise<Fetched> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of answer.body ?? []) {
    size += piece.byteLength
    if (size > bytesMax) return { kind: 'refused', reason: `${url.href} is larger than ${bytesMax} bytes` }
    pieces.push(piece)
  }
  return { kind: 'found', bytes: Buffer.concat(pieces) }
}
