// The execution itself: its status, the node it was last seen at, and every payload reference of its
// log. Also the comparable row of an execution.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { EMPTY_OBJECT, firstTruthy, isTruthy, objectOr, textOf } from './coerce.js'
import type { EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'

export type ExecutionRow = {
  execution_id: JsonValue
  tenant_id: JsonValue
  organization_id: JsonValue
  projection: JsonValue
  status: JsonValue
  last_node_name: JsonValue
  event_count: JsonValue
  last_event_id: JsonValue
  last_event_type: JsonValue
  payload_ref_count: JsonValue
  last_payload_ref_summary: JsonValue
  upcaster_registry_digest: JsonValue
}

export function createExecution(): JsonObject {
  return { status: 'UNKNOWN', last_node_name: null, payload_refs: [] }
}

export function evolveExecution(execution: JsonObject, view: EventView, rules: FoldRules): void {
  const { execution: status, namesNode } = view.kind
  if (rules.profile === 'python') {
    execution['last_node_name'] = view.nodeName
    if (status !== null) execution['status'] = status
  } else {
    if (namesNode && isTruthy(view.nodeName)) execution['last_node_name'] = view.nodeName
    // Events come in id order, so a terminal event that gets here has the highest id so far.
    if (status !== null && (status !== 'RUNNING' || execution['status'] === 'UNKNOWN')) execution['status'] = status
  }
  if (view.payloadRef !== null) {
    const refs = execution['payload_refs']
    if (!Array.isArray(refs)) rules.fail('the seed state has no list of payload references', 'payload_refs')
    refs.push({ event_id: view.id, reference: view.payloadRef })
  }
}

/** The comparable row: from the head of a folded state or from a live table. */
export function executionRow(head: JsonObject, rules: FoldRules): ExecutionRow {
  const execution = objectOr(head['execution'], EMPTY_OBJECT)
  const told = head['payload_refs'] ?? execution['payload_refs']
  const refs = Array.isArray(told) ? told : []
  const last = head['last_payload_ref'] ?? refs.at(-1) ?? null
  return {
    execution_id: rules.integer('execution_id', head['execution_id']),
    tenant_id: textOf(firstTruthy(head['tenant_id'], 'default')),
    organization_id: textOf(firstTruthy(head['organization_id'], 'default')),
    projection: textOf(firstTruthy(head['projection'], 'all')),
    status: firstTruthy(head['status'], execution['status']),
    last_node_name: firstTruthy(head['last_node_name'], execution['last_node_name']),
    event_count: rules.rowCount('event_count', head['event_count']),
    last_event_id: rules.rowInteger('last_event_id', head['last_event_id']),
    last_event_type: head['last_event_type'] ?? null,
    payload_ref_count: refs.length,
    last_payload_ref_summary: rules.summarize(isJsonObject(last) ? (last['reference'] ?? null) : last),
    upcaster_registry_digest: head['upcaster_registry_digest'] ?? null,
  }
}
