// A message of a NATS stream as a delivery: what it is called, what it carries, and the trace it belongs to.
import type { SourceMessage } from '../../bus/sourceConsumer.js'
import { type DeliveryRules, payloadOf, type Received, senderKey } from '../../domain/ingressMessage.js'
import { traceContextText } from '../../domain/traceContext.js'
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
  const received: Received = {
    header: (name) => message.header(name),
    headers: () => message.headers(),
    body: message.data,
    about,
  }
  return {
    identity: identityOf(message),
    key: senderKey(rules, received, DELIVERY_HEADERS, false),
    windowSeconds: rules.windowSeconds,
    payload: payloadOf(rules, received),
    trace: about,
    traceContext: traceContextText((name) => message.header(name)),
  }
}
