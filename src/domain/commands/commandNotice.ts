// The message that tells foreign workers of a command: small, with integers where they read integers. Old ones do no harm,
// because a claim decides.
import { parseJson } from '../json/parse.js'
import { integerValue, isJsonObject, type JsonObject } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { commandSubject } from '../outbox/subject.js'

export interface CommandNotice {
  subject: string
  /** Unique per attempt and repetition. */
  messageId: string
  body: string
}

export interface NoticeFacts {
  executionId: string
  eventId: string
  commandId: string
  step: string
  pool: string
  attempt: number
  /** Sent again because nobody took it: 1, 2, … */
  repetition: number
  trace?: JsonObject | undefined
}

export function writeNotice(facts: NoticeFacts, serverUrl: string): CommandNotice {
  const { executionId, eventId, commandId, step, pool, attempt, repetition, trace } = facts
  const body: JsonObject = {
    execution_id: integerValue(BigInt(executionId)),
    event_id: integerValue(BigInt(eventId)),
    command_id: commandId,
    step,
    server_url: serverUrl,
    execution_pool: pool,
  }
  if (trace !== undefined) body['trace'] = trace
  const again = repetition > 0 ? `:${repetition}` : ''
  return {
    subject: commandSubject({ pool, executionId, shardRoute: false, commandShardCount: 1 }),
    messageId: `${executionId}:${eventId}:cmd:${attempt}${again}`,
    body: writeJson(body),
  }
}

/** Of the envelope of a command.issued event; undefined when no worker is meant, or when it is not ours. */
export function noticeOf(envelope: string, serverUrl: string): CommandNotice | undefined {
  const event = parseJson(envelope)
  const meta = isJsonObject(event) ? event['meta'] : undefined
  if (!isJsonObject(event) || !isJsonObject(meta)) return undefined
  if (meta['emitter'] !== 'orchestrator' || meta['actionable'] !== true || meta['handed_over'] === true)
    return undefined
  const { trace } = meta
  return writeNotice(
    {
      executionId: String(event['execution_id']),
      eventId: String(event['event_id']),
      commandId: String(meta['command_id']),
      step: String(meta['step']),
      pool: String(meta['execution_pool']),
      attempt: 1,
      repetition: 0,
      trace: isJsonObject(trace) ? trace : undefined,
    },
    serverUrl,
  )
}
