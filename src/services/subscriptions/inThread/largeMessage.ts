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
  /** Those that a payload may see. */
  headers: Record<string, string>
  /** Those that may hold the key, by the names they are asked for. */
  keyHeaders: readonly (readonly [string, string | undefined])[]
  about: JsonObject
  keys: { headers: readonly string[]; bodyId: boolean }
}

export function largeMessage(input: LargeMessageInput): { key: string | undefined; payload: string } {
  const { rules, keys } = input
  const keyHeaders = new Map(input.keyHeaders)
  const received: Received = {
    header: (name) => keyHeaders.get(name),
    headers: () => input.headers,
    body: input.body,
    about: input.about,
  }
  return {
    key: senderKey(rules, received, keys.headers, keys.bodyId),
    payload: writeJson(payloadOf(rules, received)),
  }
}
