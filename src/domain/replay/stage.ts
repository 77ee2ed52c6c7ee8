// A stage: opened, closed, and in between following the status of every event that carries its id.
// Kind and step name are fixed by whoever mentions it first.

import { canonicalJson } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { firstTruthy, isTruthy, textOf, textOrNull, truthyOr } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
import type { EntitySink } from './entitySink.js'
import type { EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'

export type Stage = {
  stage_id: JsonValue
  status: JsonValue
  kind: JsonValue
  step_name: JsonValue
  parent_stage_id: JsonValue
  loop_event_id: JsonValue
  opened_event_id: JsonValue
  closed_event_id: JsonValue
  frame_count: JsonValue
  row_count: JsonValue
  events_emitted: JsonValue
  failed_count: JsonValue
  last_event_id: JsonValue
}

export const STAGE_FIELDS: FieldKinds<Stage> = {
  stage_id: 'id',
  status: 'any',
  kind: 'any',
  step_name: 'any',
  parent_stage_id: 'text',
  loop_event_id: 'text',
  opened_event_id: 'integer',
  closed_event_id: 'integer',
  frame_count: 'count',
  row_count: 'count',
  events_emitted: 'count',
  failed_count: 'count',
  last_event_id: 'integer',
}

export function createStage(id: string, view: EventView): Stage {
  return {
    stage_id: id,
    status: 'UNKNOWN',
    kind: view.meta['kind'] ?? null,
    step_name: firstTruthy(view.nodeName, view.meta['step_name']),
    parent_stage_id: null,
    loop_event_id: null,
    opened_event_id: null,
    closed_event_id: null,
    frame_count: 0,
    row_count: 0,
    events_emitted: 0,
    failed_count: 0,
    last_event_id: null,
  }
}

export function evolveStage(stage: Stage, view: EventView, rules: FoldRules): void {
  const { meta, kind } = view
  stage.last_event_id = view.id
  const parent = meta['parent_stage_id']
  if (parent !== null && parent !== undefined) stage.parent_stage_id = textOf(parent)
  if (view.loopId) stage.loop_event_id = view.loopId
  if (kind.stage === 'opened') {
    stage.status = 'OPEN'
    stage.opened_event_id = view.id
  } else if (kind.stage === 'closed') {
    stage.status = truthyOr(view.status, 'CLOSED')
    stage.closed_event_id = view.id
    stage.frame_count = rules.counter('frame_count', meta['frame_count'], stage.frame_count)
    stage.row_count = rules.counter('row_count', meta['row_count'], stage.row_count)
    stage.events_emitted = rules.counter('events_emitted', meta['events_emitted'], stage.events_emitted)
    stage.failed_count = rules.counter('failed_count', meta['failed_count'], stage.failed_count)
  } else if (isTruthy(view.status)) {
    stage.status = textOf(view.status)
  }
}

/** The comparable row of a stage, from a folded state or from a live table. */
export function stageRow(entity: JsonObject, key: string | null, rules: FoldRules): Stage {
  return {
    closed_event_id: rules.rowInteger('closed_event_id', entity['closed_event_id']),
    events_emitted: rules.rowCount('events_emitted', entity['events_emitted']),
    failed_count: rules.rowCount('failed_count', entity['failed_count']),
    frame_count: rules.rowCount('frame_count', entity['frame_count']),
    kind: entity['kind'] ?? null,
    last_event_id: rules.rowInteger('last_event_id', entity['last_event_id']),
    loop_event_id: textOrNull(entity['loop_event_id']),
    opened_event_id: rules.rowInteger('opened_event_id', entity['opened_event_id']),
    parent_stage_id: textOrNull(entity['parent_stage_id']),
    row_count: rules.rowCount('row_count', entity['row_count']),
    stage_id: textOrNull(entity['stage_id'] ?? key),
    status: entity['status'] ?? null,
    step_name: entity['step_name'] ?? null,
  }
}

/** Canonical text of a regular stage. Its row has the same keys and values. */
export function writeStage(stage: Stage, sink: EntitySink): void {
  const all =
    `{"closed_event_id":${canonicalJson(stage.closed_event_id)}` +
    `,"events_emitted":${canonicalJson(stage.events_emitted)}` +
    `,"failed_count":${canonicalJson(stage.failed_count)}` +
    `,"frame_count":${canonicalJson(stage.frame_count)}` +
    `,"kind":${canonicalJson(stage.kind)}` +
    `,"last_event_id":${canonicalJson(stage.last_event_id)}` +
    `,"loop_event_id":${canonicalJson(stage.loop_event_id)}` +
    `,"opened_event_id":${canonicalJson(stage.opened_event_id)}` +
    `,"parent_stage_id":${canonicalJson(stage.parent_stage_id)}` +
    `,"row_count":${canonicalJson(stage.row_count)}` +
    `,"stage_id":${canonicalJson(stage.stage_id)}` +
    `,"status":${canonicalJson(stage.status)}` +
    `,"step_name":${canonicalJson(stage.step_name)}`
  sink.entity('', `${all}}`, '', '')
}
