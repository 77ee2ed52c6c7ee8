// Answers of several MB. Few are made at a time, because making one takes many times its size in memory; they are
// written in turns, so that other requests are answered in between.
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { isJsonObject } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { redact } from '../domain/secrets/redact.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import { CpError } from '../errors.js'
import { createTurns } from '../runtime/turns.js'
import type { ApiReply } from './route.js'

export interface LargeAnswers {
  make(handler: () => Promise<ApiReply>, rules: SecretRules | null, signal: AbortSignal): Promise<ApiReply>
}

const AT_ONCE_MAX = 2
const WAITING_MAX = 100
const RETRY_AFTER_SECONDS = 2

export function createLargeAnswers(): LargeAnswers {
  let active = 0
  const waiting: (() => void)[] = []

  async function enter(): Promise<void> {
    if (active < AT_ONCE_MAX) {
      active += 1
      return
    }
    if (waiting.length >= WAITING_MAX) {
      throw new CpError('overloaded', `${WAITING_MAX} large answers are asked for already; ask again`, {
        details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
      })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** The place goes to whoever has waited longest. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) active -= 1
    else next()
  }

  return {
    make: async (handler, rules, signal) => {
      await enter()
      try {
        if (signal.aborted) throw new CpError('cancelled', 'the caller went away while it waited for its turn')
        const { body, ...answer } = await handler()
        return body === undefined ? answer : { ...answer, bytes: await writeInTurns(body, rules) }
      } finally {
        leave()
      }
    },
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
