// The body of POST /api/events or /api/events/batch, above the size that the main loop reads itself. Everything that costs
// time with every value in it happens here. The answer is text: few long ones cost the main loop next to nothing, where a
// million small objects would cost as much as reading the body.
import { takeOutParts } from '../../../domain/events/largeEvent.js'
import { type EventDefaults, type NormalisedEvent, normaliseEvent } from '../../../domain/events/normaliseEvent.js'
import type { WireTime } from '../../../domain/events/wireTime.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { readJsonBody } from '../../../domain/json/body.js'
import type { Schema } from '../../../domain/json/schema.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { CpError } from '../../../errors.js'
import { assertFits } from '../../bodies/inThread/fitting.js'
import { packEvent } from './packedEvent.js'

export interface LargeEventsInput {
  bytes: Uint8Array
  schema: Schema
  isBatch: boolean
  now: WireTime
  /** Further names of secrets; null hides nothing. */
  secretNames: readonly string[] | null
  /** One of a batch is not larger than one alone. */
  eventBytes: number
}

export interface LargeEventsOutput {
  count: number
  executionId: string
  /** JSON arrays of packed events, a few hundred each: what is small of every event. */
  records: string[]
  /** Everything that is large, one after the other, and where each ends: SLOTS for every event, empty when there is none. */
  text: string
  ends: Float64Array
}

export const SLOTS = 7
const RECORDS_PER_TEXT = 250

export function largeEvents(input: LargeEventsInput): LargeEventsOutput {
  const body = readJsonBody(input.bytes, input.schema) as JsonObject
  const rules = input.secretNames === null ? null : secretRules(input.secretNames)
  const events = input.isBatch ? batchEvents(body, input.now) : [normaliseEvent(body, defaults(input.now))]
  const texts: string[] = []
  const ends = new Float64Array(events.length * SLOTS)
  const records: string[] = []
  let group: string[] = []
  let end = 0
  for (const [index, event] of events.entries()) {
    const { parts, checked, hidden } = takeOutParts(event, rules, event.eventIdGiven)
    if (input.isBatch) assertFits([parts.context, parts.result, parts.meta], input.eventBytes, `/events/${index}`)
    const slots = [parts.context, parts.result, parts.meta, checked?.context, checked?.result, checked?.meta, hidden]
    for (let slot = 0; slot < SLOTS; slot++) {
      const text = slots[slot]
      if (text !== undefined) {
        texts.push(text)
        end += text.length
      }
      ends[index * SLOTS + slot] = end
    }
    group.push(packEvent(event))
    if (group.length === RECORDS_PER_TEXT || index === events.length - 1) {
      records.push(`[${group.join(',')}]`)
      group = []
    }
  }
  const executionId = input.isBatch ? parseExecutionId(body['execution_id'], '/execution_id') : events[0]!.executionId
  return { count: events.length, executionId, records, text: texts.join(''), ends }
}

function defaults(now: WireTime): EventDefaults {
  // An id is minted where the event is appended.
  return { mintEventId: () => '0' as never, now }
}

/** As the main loop does it for small ones. */
function batchEvents(body: JsonObject, now: WireTime): NormalisedEvent[] {
  const executionId = parseExecutionId(body['execution_id'], '/execution_id')
  const workerId = typeof body['worker_id'] === 'string' ? body['worker_id'] : undefined
  const shared = { ...defaults(now), executionId, workerId, actionable: false }
  return (body['events'] as JsonValue[]).map((entry, index) => {
    if (!isJsonObject(entry)) throw new CpError('invalid_input', `/events/${index} must be an object`)
    return normaliseEvent(entry, { ...shared, at: `/events/${index}` })
  })
}
