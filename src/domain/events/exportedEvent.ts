// An event as one line of an export: every column of the log under its own name, nothing shortened, nothing lost. A column
// that is NULL is left out, JSON goes in as the database wrote it, and `json_nulls` names JSON columns that hold a null.
// Reading is strict about what a field is and never about how long it is: what the log held, it can hold again.

import { CpError } from '../../errors.js'
import { type CatalogId, type EventId, type ExecutionId, parseInt64 } from '../ids/ids.js'
import { Float, floatValue, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import type { EventRecord } from './eventRecord.js'
import { pointerTo, readField, refuseField } from './readField.js'
import { isStorable } from './storableText.js'
import { parseWireTime, type WireTime, wireTimeFromPostgres } from './wireTime.js'

type Kind = 'id' | 'integer' | 'float' | 'text' | 'json' | 'time'

/** In the order they are written. */
export const EXPORTED_COLUMNS = {
  event_id: 'id',
  execution_id: 'id',
  stream_version: 'id',
  catalog_id: 'id',
  parent_event_id: 'id',
  parent_execution_id: 'id',
  prev_event_id: 'id',
  event_type: 'text',
  node_id: 'text',
  node_name: 'text',
  node_type: 'text',
  status: 'text',
  worker_id: 'text',
  duration: 'float',
  created_at: 'time',
  event_time: 'time',
  ingest_time: 'time',
  context: 'json',
  result: 'json',
  meta: 'json',
  trace_component: 'json',
  error: 'text',
  stack_trace: 'text',
  tenant_id: 'text',
  organization_id: 'text',
  stage_id: 'id',
  frame_id: 'id',
  command_id: 'id',
  payload_ref: 'json',
  aggregate_id: 'text',
  aggregate_type: 'text',
  schema_name: 'text',
  schema_version: 'integer',
  stream_id: 'text',
  producer: 'text',
  causation_id: 'text',
  correlation_id: 'text',
  idempotency_key: 'text',
  current_index: 'integer',
  current_item: 'text',
  distributed_state: 'text',
  context_key: 'text',
  context_value: 'text',
  envelope_checksum: 'text',
  sealed: 'text',
} as const satisfies Record<string, Kind>

export type ExportedColumn = keyof typeof EXPORTED_COLUMNS

/** As the database hands it over: ids, times and JSON as text. */
export type ExportedRow = { readonly [column in ExportedColumn]: string | number | null }

const COLUMNS = Object.entries(EXPORTED_COLUMNS) as [ExportedColumn, Kind][]
const JSON_NULLS = 'json_nulls'
/** The column is called like in messages. */
const keyOf = (column: ExportedColumn): string => (column === 'created_at' ? 'timestamp' : column)

export function writeExportedEvent(row: ExportedRow): string {
  const fields: string[] = []
  const nulls: string[] = []
  for (const [column, kind] of COLUMNS) {
    const value = row[column]
    if (value === null) continue
    if (kind === 'json' && value === 'null') nulls.push(column)
    else fields.push(`"${keyOf(column)}":${jsonText(column, kind, value)}`)
  }
  if (nulls.length > 0) fields.push(`"${JSON_NULLS}":${writeJson(nulls)}`)
  return `{${fields.join(',')}}`
}

function jsonText(column: string, kind: Kind, value: string | number): string {
  if (kind === 'text') return writeJson(String(value))
  if (kind === 'time') return `"${wireTimeFromPostgres(String(value), column)}"`
  if (kind !== 'float') return String(value)
  const number = Number(value)
  if (Object.is(number, -0)) return '"-0"'
  return Number.isFinite(number) ? writeJson(floatValue(number)) : `"${number}"`
}

export interface ExportedEvent {
  event: EventRecord
  /** Exports of earlier versions lack both: the event's own time stands for them. */
  eventTime: WireTime
  ingestTime: WireTime
}

/** A key that is not a column is refused, not lost. The number is left out: an event gets one when it is stored. */
export function parseExportedEvent(document: JsonValue): ExportedEvent {
  if (!isJsonObject(document)) throw new CpError('invalid_input', 'an exported event must be an object')
  const field = createFieldReader(document)
  const eventId = field.id('event_id')
  const executionId = field.id('execution_id')
  const createdAt = field.time('timestamp') ?? field.time('created_at')
  if (eventId === undefined) throw missing('event_id')
  if (executionId === undefined || executionId === '0') throw missing('execution_id')
  if (createdAt === undefined) throw missing('timestamp')
  for (const [column, kind] of COLUMNS) field[kind](column)
  field.nulls()
  field.refuseOthers()
  const event: EventRecord = {
    executionId: executionId as ExecutionId,
    eventId: eventId as EventId,
    catalogId: (field.id('catalog_id') ?? '0') as CatalogId,
    parentEventId: field.id('parent_event_id') as EventId | undefined,
    parentExecutionId: field.id('parent_execution_id') as ExecutionId | undefined,
    prevEventId: field.id('prev_event_id') as EventId | undefined,
    eventType: field.text('event_type') ?? '',
    nodeId: field.text('node_id'),
    nodeName: field.text('node_name'),
    nodeType: field.text('node_type'),
    status: field.text('status'),
    workerId: field.text('worker_id'),
    duration: field.float('duration'),
    context: field.json('context'),
    result: field.json('result'),
    meta: field.json('meta'),
    error: field.text('error'),
    stackTrace: field.text('stack_trace'),
    tenantId: field.text('tenant_id'),
    organizationId: field.text('organization_id'),
    createdAt,
    createdAtGiven: true,
    sealed: field.text('sealed'),
  }
  return {
    event,
    eventTime: field.time('event_time') ?? createdAt,
    ingestTime: field.time('ingest_time') ?? createdAt,
  }
}

const INT32_MAX = 2_147_483_647
// What a column of floats can hold and JSON cannot say.
const BEYOND_JSON = new Set(['NaN', 'Infinity', '-Infinity', '-0'])

/** Null and absent are the same everywhere. */
function createFieldReader(document: JsonObject) {
  const seen = new Set<string>()
  const read = (key: string): JsonValue | undefined => {
    seen.add(key)
    return readField(document, key)
  }
  const refuse = (key: string, rule: string): CpError => refuseField(pointerTo('', key), rule)
  return {
    id: (key: string): string | undefined => {
      const value = read(key)
      return value === undefined ? undefined : parseInt64(value, pointerTo('', key), 'any')
    },
    integer: (key: string): number | undefined => {
      const value = read(key)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= INT32_MAX) return value
      throw refuse(key, 'must be a whole number of 32 bits')
    },
    float: (key: string): number | undefined => {
      const value = read(key)
      if (value === undefined) return undefined
      if (value instanceof Float) return value.value
      if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
      if (typeof value === 'string' && BEYOND_JSON.has(value)) return Number(value)
      throw refuse(key, 'must be a number')
    },
    text: (key: string): string | undefined => {
      const value = read(key)
      if (value === undefined) return undefined
      if (typeof value !== 'string') throw refuse(key, 'must be text')
      if (!isStorable(value)) throw refuse(key, 'must not contain NUL or half a surrogate pair')
      return value
    },
    json: (key: string): JsonValue | undefined => read(key),
    time: (key: string): WireTime | undefined => parseWireTime(read(key), pointerTo('', key)),
    nulls: (): void => {
      const value = read(JSON_NULLS)
      const isList = value === undefined || (Array.isArray(value) && value.every((name) => isJsonColumn(name)))
      if (!isList) throw refuse(JSON_NULLS, 'must be a list of JSON columns')
    },
    refuseOthers: (): void => {
      for (const key of Object.keys(document))
        if (!seen.has(key)) throw refuse(key, 'is not a field of an exported event; remove it')
    },
  }
}

function isJsonColumn(name: JsonValue): boolean {
  return typeof name === 'string' && COLUMNS.some(([column, kind]) => column === name && kind === 'json')
}

function missing(key: string): CpError {
  return refuseField(pointerTo('', key), 'is missing; an exported event has one')
}
