// What a message holds for its subscription: the sender's key and the payload of the execution. A large message is read
// in a thread, and its payload stays text.
import type { JsonObject } from '../../domain/json/value.js'
import { type DeliveryRules, payloadOf, type Received, senderKey } from '../../domain/subscriptions/ingressMessage.js'
import { LARGE_BYTES, type LargeBodies } from '../bodies/largeBodies.js'

export interface MessageContent {
  key: string | undefined
  payload: JsonObject
  /** Instead of `payload`. */
  payloadText?: string
}

export interface KeyPlaces {
  /** Headers by which this kind of source repeats itself. */
  headers: readonly string[]
  bodyId: boolean
}

/** No promise for a small one: there are thousands of them a second. */
export function readContent(
  large: Pick<LargeBodies, 'readMessage'>,
  rules: DeliveryRules,
  received: Received,
  keys: KeyPlaces,
): MessageContent | Promise<MessageContent> {
  if (received.body.byteLength <= LARGE_BYTES) {
    return { key: senderKey(rules, received, keys.headers, keys.bodyId), payload: payloadOf(rules, received) }
  }
  return readLarge(large, rules, received, keys)
}

async function readLarge(
  large: Pick<LargeBodies, 'readMessage'>,
  rules: DeliveryRules,
  received: Received,
  keys: KeyPlaces,
): Promise<MessageContent> {
  const asked = rules.keyHeader === undefined ? keys.headers : [rules.keyHeader, ...keys.headers]
  const keyHeaders = asked.map((name): [string, string | undefined] => [name, received.header(name)])
  const headers = received.headers()
  const { key, payload } = await large.readMessage({
    ...{ rules, keys, headers, keyHeaders, body: received.body, about: received.about },
  })
  return { key, payload: {}, payloadText: payload }
}
