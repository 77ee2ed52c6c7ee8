// Messages that carry a reference because their payload was too large for the stream: fetches the whole envelope from
// the installation that published it. A server that is away is asked again later; one that does not know the event,
// or answers with another one, makes the message unusable.

import { parseJsonStrict } from '../../domain/json/parse.js'
import { INPUT_DEPTH_MAX, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError, messageOf } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'

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

/** One time for everything that is fetched through it, counted from the first use; what is left over waits. */
export function withinBudget(
  fetchPayload: PayloadFetch | undefined,
  budgetMs: number,
  clock: Clock,
): PayloadFetch | undefined {
  if (fetchPayload === undefined) return undefined
  let endsAt: number | undefined
  return async (url) => {
    endsAt ??= clock.monotonic() + budgetMs
    const leftMs = Math.ceil(endsAt - clock.monotonic())
    if (leftMs > 0) return fetchPayload(url, leftMs)
    return { kind: 'later', reason: `the ${budgetMs / 1000} s for payloads of one batch are over` }
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
    maxDepth: INPUT_DEPTH_MAX,
  })
  const small = envelope as JsonObject
  const isSame = (key: string): boolean => isJsonObject(whole) && String(whole[key]) === String(small[key])
  if (!isSame('event_id') || !isSame('execution_id'))
    throw new CpError('invalid_input', `${url} answered with another event`)
  return whole
}
