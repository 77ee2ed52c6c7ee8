// One event as the Rust server sees it: which entities it names, in its order of precedence between columns, aggregate path
// and meta. It takes every text for an id, an empty one and the text "null" included.
import type { JsonObject, JsonValue } from '../../json/value.js'
import { EMPTY_OBJECT, type Integer, type Maybe, objectOr } from '../coerce.js'
import { serverEventId, serverText, serverTextOf } from './serverValue.js'

export interface ServerEvent {
  id: Integer
  type: string
  /** The server cannot read a NULL; here it counts as empty. */
  status: string
  nodeName: string | null
  workerId: string | null
  meta: JsonObject
  /** `result.reference`; the column payload_ref is not looked at. */
  reference: JsonValue
  stageId: string | null
  frameId: string | null
  commandId: string | null
  loopId: string | null
  businessMeta: JsonObject
  business: { key: string; type: string; id: string } | null
}

export function serverEvent(row: JsonObject): ServerEvent {
  const meta = objectOr(row['meta'], EMPTY_OBJECT)
  const businessMeta = objectOr(meta['business_object'], EMPTY_OBJECT)
  return {
    id: serverEventId(row),
    type: columnText(row['event_type']) ?? '',
    status: columnText(row['status']) ?? '',
    nodeName: columnText(row['node_name']),
    workerId: columnText(row['worker_id']),
    meta,
    reference: objectOr(row['result'], EMPTY_OBJECT)['reference'] ?? null,
    stageId: entityId(row, meta, 'stage'),
    frameId: entityId(row, meta, 'frame'),
    commandId: columnText(row['command_id']) ?? serverText(meta, 'command_id'),
    loopId: serverText(meta, 'loop_id') ?? serverText(meta, 'loop_event_id') ?? serverText(meta, '__loop_epoch_id'),
    businessMeta,
    business: businessIdentity(row, meta, businessMeta),
  }
}

function columnText(value: Maybe): string | null {
  return value === null || value === undefined ? null : serverTextOf(value)
}

function entityId(row: JsonObject, meta: JsonObject, noun: 'stage' | 'frame'): string | null {
  const column = columnText(row[`${noun}_id`])
  if (column !== null) return column
  const path = row['aggregate_type'] === noun ? columnText(row['aggregate_id']) : null
  if (path !== null) return path.startsWith(`${noun}/`) ? path.slice(noun.length + 1) : path
  return serverText(meta, `${noun}_id`)
}

function businessIdentity(row: JsonObject, meta: JsonObject, told: JsonObject): ServerEvent['business'] {
  let type =
    serverText(told, 'object_type') ??
    serverText(told, 'type') ??
    serverText(meta, 'business_object_type') ??
    serverText(meta, 'object_type')
  let id =
    serverText(told, 'object_id') ??
    serverText(told, 'id') ??
    serverText(meta, 'business_object_id') ??
    serverText(meta, 'object_id')
  const path = row['aggregate_type'] === 'business_object' ? columnText(row['aggregate_id']) : null
  if (path !== null) {
    const parts = path
      .replace(/^business_object\//, '')
      .split('/')
      .filter((part) => part !== '')
    const [first, ...rest] = parts
    type ??= rest.length > 0 ? first! : 'business_object'
    id ??= rest.length > 0 ? rest.join('/') : path
  }
  return type === null || id === null ? null : { key: `${type}/${id}`, type, id }
}

/** Five fields at most; only texts, and whole numbers for the rows. */
export function serverSummary(reference: JsonValue): JsonObject {
  const own = objectOr(reference, EMPTY_OBJECT)
  const rows = objectOr(own['rows_ref'], EMPTY_OBJECT)
  const places = [own, objectOr(rows['meta'], EMPTY_OBJECT), objectOr(rows['ipc'], EMPTY_OBJECT)]
  const firstText = (key: string): string | undefined =>
    places.map((place) => place[key]).find((value): value is string => typeof value === 'string')
  const found: Record<string, JsonValue | undefined> = {
    sha256: firstText('sha256') ?? onlyText(own['digest']),
    schema_digest: firstText('schema_digest'),
    row_count: places
      .map((place) => place['row_count'])
      .find((value) => typeof value === 'bigint' || Number.isSafeInteger(value)),
    media_type: firstText('media_type'),
    ref: onlyText(own['ref']) ?? onlyText(rows['ref']) ?? onlyText(own['uri']),
  }
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
}

function onlyText(value: Maybe): string | undefined {
  return typeof value === 'string' ? value : undefined
}
