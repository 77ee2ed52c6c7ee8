// Messages that carry a reference because their payload was too large for the stream: fetches the whole envelope from
// the installation that published it. A server that is away is asked again later; one that does not know the event,
// or answers with another one, makes the message unusable.

import { parseJsonStrict } from '../../domain/json/parse.js'
import { INPUT_DEPTH_MAX, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import type { PayloadFetch } from './inThread/payloadFetch.js'

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
