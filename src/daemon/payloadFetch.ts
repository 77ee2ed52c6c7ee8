// How the projector fetches payloads that were too large for the stream.
import type { Config } from '../config/keys.js'
import { CLAIM_CHECK_BYTES_MAX, createPayloadFetch, type PayloadFetch } from '../services/outbox/claimCheck.js'

const DEADLINE_MS = 6_000

export function payloadFetch(config: Config): PayloadFetch {
  return createPayloadFetch({
    hosts: config.claimCheckHosts,
    publicUrl: config.publicUrl,
    token: config.claimCheckToken,
    deadlineMs: DEADLINE_MS,
    bytesMax: CLAIM_CHECK_BYTES_MAX,
  })
}
