// Turns the body of POST /api/events, or one item of a batch, into an event record: the NoETL server's fields,
// aliases and defaults, with what was lost there repaired (see the notes below). Everything wrong is refused
// with a JSON pointer to the field; nothing is guessed and nothing else is consulted.

import { OWN_META_KEYS } from '../executions/drivenStart.js'
import {
  type CatalogId,
  type EventId,
  type ExecutionId,
  parseCatalogId,
  parseEventId,
  parseExecutionId,
  parseInt64,
  parseOptionalId,
} from '../ids/ids.js'
import { integerValue, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { lifecycleStatusOf } from '../subscriptions/subscription.js'
import type { EventRecord } from './eventRecord.js'
import { canonicalEventType, deriveEventStatus, isStartEventType, isTerminalEventType } from './eventType.js'
import {
  pointerTo,
  readAlias,
  readBoolean,
  readField,
  readNumber,
  readObject,
  readText,
  refuseField,
  TEXT_LENGTH_MAX,
} from './readField.js'
import { storableText } from './storableText.js'
import { parseWireTime, type WireTime } from './wireTime.js'

export interface EventDefaults {
  /** Asked only when the producer gave no id. */
  mintEventId(): EventId
  now: WireTime
  /** What surrounds the items of a batch. */
  executionId?: ExecutionId | undefined
  workerId?: string | undefined
  /** True for single events, false for the items of a batch, as in the NoETL server. */
  actionable?: boolean | undefined
  tenantId?: string | undefined
  organizationId?: string | undefined
  /** Pointer to the object itself, `/events/3` for an item of a batch. */
  at?: string | undefined
}

export interface NormalisedEvent extends EventRecord {
  /** Where the catalog entry of a start event is to be found, if it is named by path. */
  catalogPath?: string | undefined
  eventIdGiven: boolean
}

const RESULT_KINDS = ['data', 'ref', 'refs']
const EVENT_IDS_MAX = 100_000
const STATUS_LENGTH_MAX = 64

export function normaliseEvent(input: JsonObject, defaults: EventDefaults): NormalisedEvent {
  const at = defaults.at ?? ''
  const executionId = readExecutionId(input, defaults, at)
  const eventType = readEventType(input, at)
  const step = readStep(input, eventType, at)
  const payload = readAlias(input, ['payload', 'context']).value
  const workerId = readText(input, 'worker_id', at) ?? defaults.workerId
  const status = readText(input, 'status', at) ?? lifecycleStatusOf(eventType) ?? deriveEventStatus(eventType)
  const givenId = parseOptionalId(parseEventId, readField(input, 'event_id'), pointerTo(at, 'event_id'))
  const time = readAlias(input, ['created_at', 'timestamp'])
  const createdAt = parseWireTime(time.value, pointerTo(at, time.key))

  const isStart = isStartEventType(eventType)

  return {
    executionId,
    eventIdGiven: givenId !== undefined,
    catalogId: readCatalogId(input, payload, isStart, at),
    catalogPath: isStart ? readPath(input, payload, at) : undefined,
    parentEventId: readId(parseEventId, input, 'parent_event_id', at),
    parentExecutionId: readId(parseExecutionId, input, 'parent_execution_id', at),
    eventType,
    nodeId: step,
    nodeName: step,
    nodeType: readText(input, 'node_type', at),
    status,
    workerId,
    duration: readNumber(input, 'duration', at),
    // The fold reads what an execution was started with from here; other events keep their payload in result.
    context: isStart && isJsonObject(payload) ? payload : undefined,
    result: shapeResult(
      input,
      outcomeOf(eventType, payload) ?? status,
      isStart && isJsonObject(payload) ? undefined : payload,
      at,
    ),
    meta: mergeMeta(input, payload, workerId, defaults.actionable ?? true, at),
    error: readText(input, 'error', at, TEXT_LENGTH_MAX) ?? errorIn(payload),
    stackTrace: readText(input, 'stack_trace', at, TEXT_LENGTH_MAX),
    tenantId: readText(input, 'tenant_id', at) ?? defaults.tenantId,
    organizationId: readText(input, 'organization_id', at) ?? defaults.organizationId,
    createdAt: createdAt ?? defaults.now,
    createdAtGiven: createdAt !== undefined,
    // Last, so that a refused event uses up no id.
    eventId: givenId ?? defaults.mintEventId(),
  }
}

/** How a step ended is said in its payload; the event itself only says that it did. */
function outcomeOf(eventType: string, payload: JsonValue | undefined): string | undefined {
  if (canonicalEventType(eventType) !== 'step.exit' || !isJsonObject(payload)) return undefined
  const status = readField(payload, 'status')
  return typeof status === 'string' && status !== '' && status.length <= STATUS_LENGTH_MAX ? status : undefined
}

/** Workers report what went wrong in the payload. It stays there whole; the column has text. */
function errorIn(payload: JsonValue | undefined): string | undefined {
  const error = isJsonObject(payload) ? readField(payload, 'error') : undefined
  if (error === undefined || error === null || error === '') return undefined
  return storableText((typeof error === 'string' ? error : writeJson(error)).slice(0, TEXT_LENGTH_MAX))
}

function readExecutionId(input: JsonObject, defaults: EventDefaults, at: string): ExecutionId {
  const pointer = pointerTo(at, 'execution_id')
  const own = parseOptionalId(parseExecutionId, readField(input, 'execution_id'), pointer)
  if (own !== undefined && defaults.executionId !== undefined && own !== defaults.executionId) {
    throw refuseField(pointer, 'differs from the execution_id of the batch; send it in a batch of its own')
  }
  const id = own ?? defaults.executionId
  if (id === undefined) throw refuseField(pointer, 'is missing; name the execution the event belongs to')
  return id
}

function readEventType(input: JsonObject, at: string): string {
  const { key } = readAlias(input, ['event_type', 'name'])
  const type = readText(input, key, at)
  if (type === undefined) throw refuseField(pointerTo(at, key), 'is missing; name the type of the event')
  return type
}

/** Events about the execution as a whole belong to no step. */
function readStep(input: JsonObject, eventType: string, at: string): string {
  const { key } = readAlias(input, ['step', 'node_name', 'node_id'])
  const step = readText(input, key, at)
  if (step !== undefined) return step
  const family = canonicalEventType(eventType).split('.')[0]
  if (isStartEventType(eventType) || isTerminalEventType(eventType)) {
    return family === 'subscription' ? 'subscription' : 'playbook'
  }
  throw refuseField(pointerTo(at, key), 'is missing; name the step the event belongs to')
}

/**
 * `{status}` plus a reference or the payload: the only keys the table's check allows. The NoETL server drops a
 * payload that is not an object; it is kept here as `context.value`.
 */
function shapeResult(input: JsonObject, status: string, payload: JsonValue | undefined, at: string): JsonObject {
  const kind = readText(input, 'result_kind', at) ?? 'data'
  if (!RESULT_KINDS.includes(kind)) {
    throw refuseField(pointerTo(at, 'result_kind'), `must be one of ${RESULT_KINDS.join(', ')}`)
  }
  const uri = readText(input, 'result_uri', at, TEXT_LENGTH_MAX)
  if (kind === 'ref' && uri !== undefined) {
    return { status, reference: { store_tier: storeTier(uri), logical_uri: uri } }
  }
  const parts = readEventIds(input, at)
  if (kind === 'refs' && parts.length > 0) {
    return { status, reference: { event_ids: parts, total_parts: parts.length } }
  }
  if (payload === undefined) return { status }
  return { status, context: isJsonObject(payload) ? payload : { value: payload } }
}

function storeTier(uri: string): string {
  if (uri.startsWith('gs://') || uri.startsWith('gcs://')) return 'gcs'
  return uri.startsWith('s3://') ? 's3' : 'artifact'
}

function readEventIds(input: JsonObject, at: string): JsonValue[] {
  const value = readField(input, 'event_ids')
  if (value === undefined) return []
  const pointer = pointerTo(at, 'event_ids')
  if (!Array.isArray(value)) throw refuseField(pointer, 'must be a list of event ids')
  if (value.length > EVENT_IDS_MAX) throw refuseField(pointer, `must not hold more than ${EVENT_IDS_MAX} ids`)
  return value.map((id, index) => integerValue(BigInt(parseInt64(id, pointerTo(pointer, index)))))
}

/** The command id is copied from the payload: claims and folds look for it here, and would not find it there. */
function mergeMeta(
  input: JsonObject,
  payload: JsonValue | undefined,
  workerId: string | undefined,
  actionableByDefault: boolean,
  at: string,
): JsonObject {
  const meta: JsonObject = { ...readObject(input, 'meta', at) }
  for (const key of OWN_META_KEYS) delete meta[key]
  meta['actionable'] = readBoolean(input, 'actionable', at) ?? actionableByDefault
  meta['informative'] = readBoolean(input, 'informative', at) ?? true
  if (workerId !== undefined) meta['worker_id'] = workerId
  const commandId = isJsonObject(payload) ? readField(payload, 'command_id') : undefined
  const isId = typeof commandId === 'string' || typeof commandId === 'number' || typeof commandId === 'bigint'
  if (!Object.hasOwn(meta, 'command_id') && isId) meta['command_id'] = commandId
  return meta
}

function readCatalogId(input: JsonObject, payload: JsonValue | undefined, isStart: boolean, at: string) {
  const own = readId(parseCatalogId, input, 'catalog_id', at)
  if (own !== undefined || !isStart || !isJsonObject(payload)) return own
  return readId<CatalogId>(parseCatalogId, payload, 'catalog_id', pointerTo(at, 'payload'))
}

function readPath(input: JsonObject, payload: JsonValue | undefined, at: string): string | undefined {
  return (
    readText(input, 'path', at) ??
    (isJsonObject(payload) ? readText(payload, 'path', pointerTo(at, 'payload')) : undefined)
  )
}

function readId<T extends string>(
  parse: (value: unknown, field?: string) => T,
  input: JsonObject,
  key: string,
  at: string,
): T | undefined {
  return parseOptionalId(parse, readField(input, key), pointerTo(at, key))
}
