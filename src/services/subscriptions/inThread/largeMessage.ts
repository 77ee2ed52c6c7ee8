// A large pushed message: the payload it makes, as text, and the key its sender gave it.

import type { JsonObject } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import {
  type DeliveryRules,
  payloadOf,
  type Received,
  senderKey,
} from '../../../domain/subscriptions/ingressMessage.js'

export interface LargeMessageInput {
  rules: DeliveryRules
  body: Uint8Array
  /** By lower-case name; those that a payload may see, and all of them. */
  headers: Record<string, string>
  allHeaders: Record<string, string>
  about: JsonObject
  deliveryHeaders: readonly string[]
}

export function largeMessage(input: LargeMessageInput): { key: string | undefined; payload: string } {
  const received: Received = {
    header: (name) => input.allHeaders[name.toLowerCase()],
    headers: () => input.headers,
    body: input.body,
    about: input.about,
  }
  return {
    key: senderKey(input.rules, received, input.deliveryHeaders, true),
    payload: writeJson(payloadOf(input.rules, received)),
  }
}
