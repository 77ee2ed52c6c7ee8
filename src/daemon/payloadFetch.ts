// How payloads are fetched that were too large for the stream, or for an event.
import type { Config } from '../config/keys.js'
import {
  CLAIM_CHECK_BYTES_MAX,
  createPayloadFetch,
  type FetchSettings,
  type PayloadFetch,
} from '../services/outbox/inThread/payloadFetch.js'

const DEADLINE_MS = 6_000

export function fetchSettings(config: Config): FetchSettings {
  return {
    hosts: config.claimCheckHosts,
    publicUrl: config.publicUrl,
    token: config.claimCheckToken,
    deadlineMs: DEADLINE_MS,
    bytesMax: CLAIM_CHECK_BYTES_MAX,
  }
}

/** For the projector. */
export function payloadFetch(config: Config): PayloadFetch {
  return createPayloadFetch(fetchSettings(config))
}
