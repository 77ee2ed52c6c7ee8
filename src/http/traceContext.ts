// W3C trace context of a request, as JSON text for the outbox row, so that a trace survives the hop.
import type { IncomingHttpHeaders } from 'node:http'
import { traceContextText } from '../domain/events/traceContext.js'

export function traceContextOf(headers: IncomingHttpHeaders): string | undefined {
  return traceContextText((name) => headers[name])
}
