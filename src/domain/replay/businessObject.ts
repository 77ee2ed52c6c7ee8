// A business object: something of the user's own domain that events speak about. It has a version, a
// bag of attributes that events replace or patch, and the payload references that came with it.

import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { EMPTY_OBJECT, firstTruthy, increment, isTruthy, objectOr, textOf, textOrNull } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
import type { BusinessIdentity, EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'

export type BusinessObject = {
  object_key: JsonValue
  object_type: JsonValue
  object_id: JsonValue
  status: JsonValue
  version: JsonValue
  event_count: JsonValue
  first_event_id: JsonValue
  last_event_id: JsonValue
  deleted_event_id: JsonValue
  last_event_type: JsonValue
  last_payload_ref: JsonValue
  payload_refs: JsonValue
  attributes: JsonValue
}

export type BusinessObjectRow = Omit<BusinessObject, 'last_payload_ref' | 'payload_refs'> & {
  last_payload_ref_summary: JsonValue
  payload_ref_count: JsonValue
}

export const BUSINESS_OBJECT_FIELDS: FieldKinds<BusinessObject> = {
  attributes: 'any',
  deleted_event_id: 'any',
  event_count: 'any',
  first_event_id: 'any',
  last_event_id: 'any',
  last_event_type: 'any',
  last_payload_ref: 'any',
  object_id: 'any',
  object_key: 'any',
  object_type: 'any',
  payload_refs: 'any',
  status: 'any',
  version: 'any',
}

export function createBusinessObject(identity: BusinessIdentity, view: EventView): BusinessObject {
  // Keys in canonical order, which spares sorting them for every checksum.
  return {
    attributes: {},
    deleted_event_id: null,
    event_count: 0,
    first_event_id: view.id,
    last_event_id: null,
    last_event_type: null,
    last_payload_ref: null,
    object_id: identity.id,
    object_key: identity.key,
    object_type: identity.type,
    payload_refs: [],
    status: 'UNKNOWN',
    version: 0,
  }
}

export function evolveBusinessObject(object: BusinessObject, view: EventView, rules: FoldRules): void {
  const told = objectOr(view.meta['business_object'], EMPTY_OBJECT)
  const count = increment(rules.integer('event_count', object.event_count ?? 0))
  object.last_event_id = view.id
  object.last_event_type = view.type
  object.event_count = count
  object.version = rules.version(told['version'], view.meta['business_object_version'], count, object.version)
  const status = view.status === null ? view.kind.business : textOf(view.status)
  if (status) {
    object.status = status
    if (status === 'DELETED') object.deleted_event_id = view.id
  }
  patchAttributes(object, told)
  if (view.payloadRef !== null) {
    const entry = { event_id: view.id, reference: view.payloadRef, summary: rules.summarize(view.payloadRef) }
    if (!Array.isArray(object.payload_refs)) rules.fail('the payload references are no list', 'payload_refs')
    object.payload_refs.push(entry)
    object.last_payload_ref = entry
  }
}

function patchAttributes(object: BusinessObject, told: JsonObject): void {
  if (isJsonObject(told['state'])) object.attributes = { ...told['state'] }
  const patch = firstTruthy(told['patch'], told['attributes'])
  if (!isJsonObject(patch)) return
  if (!isJsonObject(object.attributes)) object.attributes = {}
  for (const key of Object.keys(patch)) setKey(object.attributes, key, patch[key]!)
}

/** The comparable row of a business object, from a folded state or from a live table. */
export function businessObjectRow(entity: JsonObject, key: string | null, rules: FoldRules): BusinessObjectRow {
  const refs = entity['payload_refs']
  const last = entity['last_payload_ref'] ?? null
  return {
    attributes: isTruthy(entity['attributes']) ? entity['attributes'] : {},
    deleted_event_id: rules.rowInteger('deleted_event_id', entity['deleted_event_id']),
    event_count: rules.rowCount('event_count', entity['event_count']),
    first_event_id: rules.rowInteger('first_event_id', entity['first_event_id']),
    last_event_id: rules.rowInteger('last_event_id', entity['last_event_id']),
    last_event_type: entity['last_event_type'] ?? null,
    last_payload_ref_summary: rules.summarize(isJsonObject(last) ? (last['reference'] ?? null) : last),
    object_id: textOrNull(entity['object_id']),
    object_key: textOrNull(entity['object_key'] ?? key),
    object_type: textOrNull(entity['object_type']),
    payload_ref_count: Array.isArray(refs) ? refs.length : 0,
    status: entity['status'] ?? null,
    version: rules.rowCount('version', entity['version']),
  }
}
