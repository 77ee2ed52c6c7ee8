// Answers of several MB. Few are made at a time, because making one takes many times its size in memory; they are
// written in turns, so that other requests are answered in between.
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { isJsonObject } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { redact } from '../domain/secrets/redact.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import { createGate } from '../runtime/gate.js'
import { createTurns } from '../runtime/turns.js'
import type { ApiReply } from './route.js'

export interface LargeAnswers {
  make(handler: () => Promise<ApiReply>, rules: SecretRules | null, signal: AbortSignal): Promise<ApiReply>
}

const AT_ONCE_MAX = 2
const WAITING_MAX = 100
const WAIT_MS = 120_000

export function createLargeAnswers(): LargeAnswers {
  const gate = createGate({ atOnce: AT_ONCE_MAX, waitingMax: WAITING_MAX, waitMs: WAIT_MS, what: 'large answers' })
  return {
    make: (handler, rules, signal) =>
      gate(async () => {
        const { body, ...answer } = await handler()
        return body === undefined ? answer : { ...answer, bytes: await writeInTurns(body, rules) }
      }, signal),
  }
}

/** Lists one level down are where the size is: item by item. */
async function writeInTurns(body: JsonValue, rules: SecretRules | null): Promise<Buffer> {
  if (!isJsonObject(body)) return Buffer.from(written(body, rules))
  const turns = createTurns()
  const members: string[] = []
  for (const key of Object.keys(body)) {
    const value = body[key]!
    if (!Array.isArray(value)) {
      members.push(member(key, value, rules))
      continue
    }
    const items: string[] = []
    for (const item of value) {
      items.push(written(item, rules))
      await turns.rest()
    }
    members.push(`${writeJson(key)}:[${items.join(',')}]`)
  }
  return Buffer.from(`{${members.join(',')}}`)
}

/** With its name, by which it may be a secret. */
function member(key: string, value: JsonValue, rules: SecretRules | null): string {
  const object: JsonObject = { [key]: value }
  return written(object, rules).slice(1, -1)
}

function written(value: JsonValue, rules: SecretRules | null): string {
  return writeJson(rules === null ? value : redact(value, rules))
}
