// Messages that only refer to their payload, because it was too large for the stream: fetch the whole envelope
// from the installation that published it. A server that is away is asked again later; one that does not know
// the event, or answers with another one, makes the message unusable.
import { parseJsonStrict } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError, messageOf } from '../../errors.js'

export const CLAIM_CHECK_BYTES_MAX = 64 * 1024 * 1024

export type Fetched =
  | { kind: 'found'; bytes: Uint8Array }
  /** Not now: try again. */
  | { kind: 'later'; reason: string }
  /** Never: the address is wrong, or the server says so. */
  | { kind: 'refused'; reason: string }

export type PayloadFetch = (url: string) => Promise<Fetched>

export interface FetchSettings {
  /** Hosts that may be asked; empty allows any. */
  hosts: readonly string[]
  /** Sent only to hosts that are listed: an address in a message must not collect credentials. */
  token: string | undefined
  deadlineMs: number
  bytesMax: number
}

export function createPayloadFetch(settings: FetchSettings): PayloadFetch {
  const hosts = settings.hosts.map((host) => host.toLowerCase())
  return async (address) => {
    const url = parseUrl(address)
    if (url === undefined) return { kind: 'refused', reason: `${address.slice(0, 200)} is no http or https address` }
    const isListed = hosts.includes(url.hostname) || hosts.includes(url.host)
    if (hosts.length > 0 && !isListed) {
      return { kind: 'refused', reason: `${url.host} is not one of NOETL_CP_CLAIM_CHECK_HOSTS` }
    }
    const signal = AbortSignal.timeout(settings.deadlineMs)
    try {
      const answer = await fetch(url, {
        signal,
        redirect: 'error',
        headers: isListed && settings.token !== undefined ? { authorization: `Bearer ${settings.token}` } : {},
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

/** Where the whole of it is; undefined for an ordinary envelope. */
export function claimCheckUrl(envelope: JsonValue): string | undefined {
  if (!isJsonObject(envelope) || !isJsonObject(envelope['claim_check'])) return undefined
  const url = envelope['claim_check']['url']
  return typeof url === 'string' ? url : undefined
}

const JSON_DEPTH_MAX = 200

/** The whole envelope instead of the reference to it. Throws `unavailable` when it should be tried again. */
export async function resolveClaimCheck(
  envelope: JsonValue,
  fetchPayload: PayloadFetch | undefined,
): Promise<JsonValue> {
  const url = claimCheckUrl(envelope)
  if (url === undefined) return envelope
  if (fetchPayload === undefined) throw new CpError('invalid_input', `only refers to its payload at ${url}`)
  const fetched = await fetchPayload(url)
  if (fetched.kind === 'later') throw new CpError('unavailable', fetched.reason)
  if (fetched.kind === 'refused') throw new CpError('invalid_input', `its payload cannot be had: ${fetched.reason}`)
  const whole = parseJsonStrict(new TextDecoder('utf-8', { fatal: true }).decode(fetched.bytes), {
    maxDepth: JSON_DEPTH_MAX,
  })
  const small = envelope as JsonObject
  const isSame = (key: string): boolean => isJsonObject(whole) && String(whole[key]) === String(small[key])
  if (!isSame('event_id') || !isSame('execution_id'))
    throw new CpError('invalid_input', `${url} answered with another event`)
  return whole
}
