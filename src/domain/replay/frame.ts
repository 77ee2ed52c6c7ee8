// A frame: dispatched to a worker, perhaps several times, until it is committed or failed. The end of a
// frame fixes its output reference; the payload itself is never looked at.

import { canonicalJson } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { EMPTY_OBJECT, firstTruthy, isTruthy, textOf, textOrNull, truthyOr } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
import type { EntitySink } from './entitySink.js'
import type { EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'
import { EMPTY_SUMMARY } from './payloadSummary.js'

export type Frame = {
  frame_id: JsonValue
  stage_id: JsonValue
  parent_frame_id: JsonValue
  command_id: JsonValue
  claimed_event_id: JsonValue
  terminal_event_id: JsonValue
  status: JsonValue
  row_count: JsonValue
  attempts: JsonValue
  last_event_id: JsonValue
  output_ref: JsonValue
  output_ref_summary: JsonValue
  cursor: JsonValue
  events_emitted: JsonValue
}

export type FrameRow = Omit<Frame, 'attempts' | 'last_event_id' | 'output_ref'>

export const FRAME_FIELDS: FieldKinds<Frame> = {
  frame_id: 'id',
  stage_id: 'text',
  parent_frame_id: 'text',
  command_id: 'text',
  claimed_event_id: 'integer',
  terminal_event_id: 'integer',
  status: 'any',
  row_count: 'count',
  attempts: 'any',
  last_event_id: 'any',
  output_ref: 'any',
  output_ref_summary: 'filled',
  cursor: 'object',
  events_emitted: 'count',
}

export function createFrame(id: string, view: EventView): Frame {
  return {
    frame_id: id,
    stage_id: view.stageId,
    parent_frame_id: null,
    command_id: null,
    claimed_event_id: null,
    terminal_event_id: null,
    status: 'UNKNOWN',
    row_count: 0,
    attempts: 0,
    last_event_id: null,
    output_ref: null,
    output_ref_summary: EMPTY_SUMMARY,
    cursor: EMPTY_OBJECT,
    events_emitted: 0,
  }
}

export function evolveFrame(frame: Frame, view: EventView, rules: FoldRules): void {
  const { meta, kind } = view
  frame.last_event_id = view.id
  if (view.stageId !== null) frame.stage_id = view.stageId
  const parent = meta['parent_frame_id']
  if (parent !== null && parent !== undefined) frame.parent_frame_id = textOf(parent)
  if (view.commandId) frame.command_id = view.commandId
  switch (kind.frame) {
    case 'dispatched':
      frame.status = 'CLAIMED'
      frame.claimed_event_id = view.id
      frame.attempts = rules.attempts(meta, frame.attempts)
      break
    case 'started':
      frame.status = 'RUNNING'
      break
    case 'abandoned':
      frame.status = truthyOr(view.status, 'ABANDONED')
      break
    case 'committed':
      frame.status = truthyOr(view.status, 'COMPLETED')
      frame.row_count = rules.counter('row_count', meta['row_count'], frame.row_count)
      endFrame(frame, view, rules)
      break
    case 'failed':
      frame.status = truthyOr(view.status, 'FAILED')
      endFrame(frame, view, rules)
      break
    default:
      if (isTruthy(view.status)) frame.status = textOf(view.status)
  }
}

function endFrame(frame: Frame, view: EventView, rules: FoldRules): void {
  frame.output_ref = view.payloadRef
  frame.output_ref_summary = rules.summarize(view.payloadRef)
  frame.cursor = firstTruthy(view.meta['cursor'], frame.cursor, EMPTY_OBJECT)
  frame.events_emitted = rules.counter('events_emitted', view.meta['events_emitted'], frame.events_emitted)
  frame.terminal_event_id = view.id
}

/** The comparable row of a frame; a live table stores no summary, so its rows are summarised again. */
export function frameRow(entity: JsonObject, key: string | null, rules: FoldRules, isLive = false): FrameRow {
  const stored = isLive ? null : entity['output_ref_summary']
  return {
    claimed_event_id: rules.rowInteger('claimed_event_id', entity['claimed_event_id']),
    command_id: textOrNull(entity['command_id']),
    cursor: truthyOr(entity['cursor'], {}),
    events_emitted: rules.rowCount('events_emitted', entity['events_emitted']),
    frame_id: textOrNull(entity['frame_id'] ?? key),
    output_ref_summary: isTruthy(stored) ? stored : rules.summarize(entity['output_ref'] ?? null),
    parent_frame_id: textOrNull(entity['parent_frame_id']),
    row_count: rules.rowCount('row_count', entity['row_count']),
    stage_id: textOrNull(entity['stage_id']),
    status: entity['status'] ?? null,
    terminal_event_id: rules.rowInteger('terminal_event_id', entity['terminal_event_id']),
  }
}

/** Canonical text of a regular frame. Its row has the same keys but three. */
export function writeFrame(frame: Frame, sink: EntitySink): void {
  const kept =
    `,"claimed_event_id":${canonicalJson(frame.claimed_event_id)}` +
    `,"command_id":${canonicalJson(frame.command_id)}` +
    `,"cursor":${canonicalJson(frame.cursor)}` +
    `,"events_emitted":${canonicalJson(frame.events_emitted)}` +
    `,"frame_id":${canonicalJson(frame.frame_id)}`
  const omitted =
    `,"last_event_id":${canonicalJson(frame.last_event_id)}` + `,"output_ref":${canonicalJson(frame.output_ref)}`
  const keptToo =
    `,"output_ref_summary":${canonicalJson(frame.output_ref_summary)}` +
    `,"parent_frame_id":${canonicalJson(frame.parent_frame_id)}` +
    `,"row_count":${canonicalJson(frame.row_count)}` +
    `,"stage_id":${canonicalJson(frame.stage_id)}` +
    `,"status":${canonicalJson(frame.status)}` +
    `,"terminal_event_id":${canonicalJson(frame.terminal_event_id)}`
  sink.entity(`{"attempts":${canonicalJson(frame.attempts)}`, kept, omitted, `${keptToo}}`)
}
