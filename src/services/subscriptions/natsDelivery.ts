// A message of a NATS stream as a delivery: what it is called, what it carries, and the trace it belongs to.
import type { SourceMessage } from '../../bus/sourceMessage.js'
import { storableText } from '../../domain/events/storableText.js'
import { traceContextText } from '../../domain/events/traceContext.js'
import type { DeliveryRules, Received } from '../../domain/subscriptions/ingressMessage.js'
import type { LargeBodies } from '../bodies/largeBodies.js'
import type { Delivery } from './dispatch.js'
import { type MessageContent, readContent } from './messageContent.js'

type Named = Pick<SourceMessage, 'stream' | 'streamMadeAt' | 'sequence' | 'storedAt'>

/** Stream and sequence are not enough: both come again when a stream is made anew or restored from an older disk. */
export function identityOf({ stream, streamMadeAt, sequence, storedAt }: Named): string {
  return `nats:${stream}:${sequence}@${storedAt}.${streamMadeAt}`
}

/** Names may hold colons, and identities kept by older versions end with the sequence. */
const IDENTITY = /^nats:(.*):(\d+)(?:@\d+\.\d+)?$/s

export function placeOf(identity: string): { stream: string; sequence: number } {
  const [, stream, sequence] = IDENTITY.exec(identity) ?? []
  return { stream: stream ?? '', sequence: Number(sequence ?? 0) }
}

const STREAM_KEYS = { headers: ['Nats-Msg-Id'], bodyId: false }

type Content = Pick<SourceMessage, 'stream' | 'sequence' | 'subject' | 'data' | 'header' | 'headers'>

/** No promise for a small message. */
export function deliveryOf(
  large: Pick<LargeBodies, 'readMessage'>,
  rules: DeliveryRules,
  identity: string,
  message: Content,
): Delivery | Promise<Delivery> {
  const { stream, sequence } = message
  const about = { source: 'nats', stream, sequence, subject: storableText(message.subject) }
  const received: Received = {
    header: (name) => message.header(name),
    headers: () => message.headers(),
    body: message.data,
    about,
  }
  const holding = (content: MessageContent): Delivery => ({
    identity,
    ...content,
    windowSeconds: rules.windowSeconds,
    trace: about,
    traceContext: traceContextText((name) => message.header(name)),
  })
  const content = readContent(large, rules, received, STREAM_KEYS)
  return content instanceof Promise ? content.then(holding) : holding(content)
}
