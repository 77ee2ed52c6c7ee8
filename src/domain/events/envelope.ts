// The event on the wire: the text that is stored in the outbox and published to NATS, and the way back for
// events that others publish or post to the projector. Ids are bare integers in the text, so it must be
// read with the lossless reader. Keys we do not know are handed over untouched, never dropped in silence.

import { CpError } from '../../errors.js'
import {
  type CatalogId,
  parseCatalogId,
  parseEventId,
  parseExecutionId,
  parseInt64,
  parseOptionalId,
} from '../ids/ids.js'
import { floatValue, isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { writeJson } from '../json/write.js'
import type { EventRecord, WrittenTexts } from './eventRecord.js'
import { pointerTo, readAlias, readField, readNumber, readText, refuseField, TEXT_LENGTH_MAX } from './readField.js'
import { parseWireTime, type WireTime } from './wireTime.js'

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'event_id',
  'execution_id',
  'catalog_id',
  'parent_event_id',
  'parent_execution_id',
  'prev_event_id',
  'event_type',
  'node_id',
  'node_name',
  'node_type',
  'status',
  'duration',
  'timestamp',
  'created_at',
  'context',
  'result',
  'meta',
  'error',
  'stack_trace',
  'worker_id',
  'tenant_id',
  'organization_id',
  'stream_version',
])

/** The parts of an event that are JSON in the log as well, written once for both. */
export type WrittenParts = WrittenTexts

export function writeParts(event: Pick<EventRecord, 'context' | 'result' | 'meta' | 'written'>): WrittenParts {
  if (event.written !== undefined) return event.written.parts
  const text = (part: JsonValue | undefined) => (part === undefined || part === null ? undefined : writeJson(part))
  return { context: text(event.context), result: text(event.result), meta: text(event.meta) }
}

/**
 * The event as JSON text with its place in the execution's history. Written piece by piece: every event
 * passes through here, and ids are digits already. The execution's catalog entry stands in for an event
 * that names none.
 */
export function writeEnvelope(
  event: EventRecord,
  streamVersion?: string,
  catalogId: string | undefined = event.catalogId,
  parts: WrittenParts = writeParts(event),
): string {
  const duration = event.duration === undefined ? undefined : writeJson(floatValue(event.duration))
  return (
    `{"event_id":${event.eventId},"execution_id":${event.executionId}` +
    field('catalog_id', catalogId) +
    field('parent_event_id', event.parentEventId) +
    field('parent_execution_id', event.parentExecutionId) +
    field('prev_event_id', event.prevEventId) +
    field('stream_version', streamVersion) +
    textField('tenant_id', event.tenantId) +
    textField('organization_id', event.organizationId) +
    textField('event_type', event.eventType) +
    textField('node_id', event.nodeId) +
    textField('node_name', event.nodeName) +
    textField('node_type', event.nodeType) +
    textField('status', event.status) +
    textField('worker_id', event.workerId) +
    field('duration', duration) +
    `,"timestamp":"${event.createdAt}"` +
    field('context', parts.context) +
    field('result', parts.result) +
    field('meta', parts.meta) +
    textField('error', event.error) +
    textField('stack_trace', event.stackTrace) +
    '}'
  )
}

/** `json`: digits, or what is JSON text already. */
function field(key: string, json: string | undefined): string {
  return json === undefined ? '' : `,"${key}":${json}`
}

function textField(key: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${key}":${writeJson(text)}`
}

export interface ParsedEnvelope {
  event: EventRecord
  /** The producer's own numbering; ours is assigned when the event is stored. */
  streamVersion?: string
  extra: JsonObject
}

export interface EnvelopeDefaults {
  now: WireTime
  /** Pointer to the envelope itself, `/events/3` in a batch. */
  at?: string | undefined
}

/**
 * Only the event id is demanded. Missing execution and catalog ids are 0 as in the NoETL server; a missing time
 * is the time of arrival, which is then no part of what the event says.
 */
export function parseEnvelope(input: JsonValue, defaults: EnvelopeDefaults): ParsedEnvelope {
  const at = defaults.at ?? ''
  if (!isJsonObject(input)) {
    throw new CpError('invalid_input', `${at === '' ? 'the envelope' : at} must be an object`, {
      details: { field: at },
    })
  }
  const eventId = parseOptionalId(parseEventId, readField(input, 'event_id'), pointerTo(at, 'event_id'))
  if (eventId === undefined) throw refuseField(pointerTo(at, 'event_id'), 'is missing; an event is known by its id')
  const id = <T extends string>(parse: (value: unknown, field?: string) => T, key: string): T | undefined =>
    parseOptionalId(parse, readField(input, key), pointerTo(at, key))
  const text = (key: string) => readText(input, key, at)
  const time = readAlias(input, ['timestamp', 'created_at'])
  const createdAt =
    parseWireTime(time.value, pointerTo(at, time.key)) ??
    parseWireTime(readField(input, 'created_at'), pointerTo(at, 'created_at'))

  const event: EventRecord = {
    executionId: id(parseExecutionId, 'execution_id') ?? parseExecutionId(0),
    eventId,
    catalogId: id(parseCatalogId, 'catalog_id') ?? ('0' as CatalogId),
    parentEventId: id(parseEventId, 'parent_event_id'),
    parentExecutionId: id(parseExecutionId, 'parent_execution_id'),
    prevEventId: id(parseEventId, 'prev_event_id'),
    eventType: text('event_type') ?? '',
    nodeId: text('node_id'),
    nodeName: text('node_name'),
    nodeType: text('node_type'),
    status: text('status'),
    workerId: text('worker_id'),
    duration: readNumber(input, 'duration', at),
    context: readField(input, 'context'),
    result: readField(input, 'result'),
    meta: readField(input, 'meta'),
    error: readText(input, 'error', at, TEXT_LENGTH_MAX),
    stackTrace: readText(input, 'stack_trace', at, TEXT_LENGTH_MAX),
    tenantId: text('tenant_id'),
    organizationId: text('organization_id'),
    createdAt: createdAt ?? defaults.now,
    createdAtGiven: createdAt !== undefined,
  }
  const version = readField(input, 'stream_version')
  const streamVersion =
    version === undefined || version === '' ? undefined : parseInt64(version, pointerTo(at, 'stream_version'))
  const parsed: ParsedEnvelope = { event, extra: extraOf(input) }
  if (streamVersion !== undefined) parsed.streamVersion = streamVersion
  return parsed
}

function extraOf(input: JsonObject): JsonObject {
  const extra: JsonObject = {}
  for (const key of Object.keys(input)) if (!KNOWN_KEYS.has(key)) setKey(extra, key, input[key] as JsonValue)
  return extra
}
