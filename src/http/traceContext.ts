// W3C trace context of a request, as JSON text for the outbox row, so that a trace survives the hop.
import type { IncomingHttpHeaders } from 'node:http'
import { writeJson } from '../domain/json/write.js'

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const TRACESTATE_MAX = 512

export function traceContextOf(headers: IncomingHttpHeaders): string | undefined {
  const parent = headers['traceparent']
  if (typeof parent !== 'string' || !TRACEPARENT.test(parent)) return undefined
  const state = headers['tracestate']
  // Control characters would not survive as a header again.
  const usable = typeof state === 'string' && state.length <= TRACESTATE_MAX && /^[\x20-\x7e]+$/.test(state)
  return writeJson(usable ? { traceparent: parent, tracestate: state } : { traceparent: parent })
}
