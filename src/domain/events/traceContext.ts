// W3C trace context between two hops: headers in, JSON text for the outbox row, headers out again.
import { writeJson } from '../json/write.js'

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const TRACESTATE_MAX = 512

/** Undefined when there is no usable parent. `header` is asked for `traceparent` and `tracestate`. */
export function traceContextText(header: (name: string) => unknown): string | undefined {
  const parent = header('traceparent')
  if (typeof parent !== 'string' || !TRACEPARENT.test(parent)) return undefined
  const state = header('tracestate')
  // Control characters would not survive as a header again.
  const usable = typeof state === 'string' && state.length <= TRACESTATE_MAX && /^[\x20-\x7e]+$/.test(state)
  return writeJson(usable ? { traceparent: parent, tracestate: state } : { traceparent: parent })
}
