// A message of a NATS stream as a delivery: what it is called, what it carries, and the trace it belongs to.
import type { SourceMessage } from '../../bus/sourceConsumer.js'
import { type DeliveryRules, payloadOf, senderKey } from '../../domain/ingressMessage.js'
import { writeJson } from '../../domain/json/write.js'
import type { Delivery } from './dispatch.js'

export function identityOf(message: Pick<SourceMessage, 'stream' | 'sequence'>): string {
  return `nats:${message.stream}:${message.sequence}`
}

const DELIVERY_HEADERS = ['Nats-Msg-Id']

export function deliveryOf(
  rules: DeliveryRules,
  message: Pick<SourceMessage, 'stream' | 'sequence' | 'subject' | 'data' | 'header' | 'headers'>,
): Delivery {
  const about = { source: 'nats', stream: message.stream, sequence: message.sequence, subject: message.subject }
  const received = { header: message.header, headers: message.headers, body: message.data, about }
  const traceparent = message.header('traceparent')
  return {
    identity: identityOf(message),
    key: senderKey(rules, received, DELIVERY_HEADERS, false),
    windowSeconds: rules.windowSeconds,
    payload: payloadOf(rules, received),
    trace: about,
    traceContext:
      traceparent !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)
        ? writeJson({ traceparent })
        : undefined,
  }
}
