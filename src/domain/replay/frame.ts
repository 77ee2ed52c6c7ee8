// A frame: dispatched to a worker, perhaps several times, until it is committed or failed. The end of a
// frame fixes its output reference; the payload itself is never looked at.

import type { CanonicalWriter } from '../json/canonicalWriter.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { firstTruthy, isTruthy, textOf, textOrNull } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
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
    cursor: {},
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
      frame.status = firstTruthy(view.status, 'ABANDONED')
      break
    case 'committed':
      frame.status = firstTruthy(view.status, 'COMPLETED')
      frame.row_count = rules.counter('row_count', meta['row_count'], frame.row_count)
      endFrame(frame, view, rules)
      break
    case 'failed':
      frame.status = firstTruthy(view.status, 'FAILED')
      endFrame(frame, view, rules)
      break
    default:
      if (isTruthy(view.status)) frame.status = textOf(view.status)
  }
}

function endFrame(frame: Frame, view: EventView, rules: FoldRules): void {
  frame.output_ref = view.payloadRef
  frame.output_ref_summary = rules.summarize(view.payloadRef)
  frame.cursor = firstTruthy(view.meta['cursor'], frame.cursor, {})
  frame.events_emitted = rules.counter('events_emitted', view.meta['events_emitted'], frame.events_emitted)
  frame.terminal_event_id = view.id
}

/** The comparable row of a frame; a live table stores no summary, so its rows are summarised again. */
export function frameRow(entity: JsonObject, key: string | null, rules: FoldRules, isLive = false): FrameRow {
  const stored = isLive ? null : entity['output_ref_summary']
  return {
    claimed_event_id: rules.rowInteger('claimed_event_id', entity['claimed_event_id']),
    command_id: textOrNull(entity['command_id']),
    cursor: firstTruthy(entity['cursor'], {}),
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
export function writeFrame(out: CanonicalWriter, frame: Frame, row: CanonicalWriter | null): void {
  out.raw('{"attempts":')
  out.value(frame.attempts)
  const first = out.position
  out.raw(',"claimed_event_id":')
  out.value(frame.claimed_event_id)
  out.raw(',"command_id":')
  out.value(frame.command_id)
  out.raw(',"cursor":')
  out.value(frame.cursor)
  out.raw(',"events_emitted":')
  out.value(frame.events_emitted)
  out.raw(',"frame_id":')
  out.value(frame.frame_id)
  const firstEnd = out.position
  out.raw(',"last_event_id":')
  out.value(frame.last_event_id)
  out.raw(',"output_ref":')
  out.value(frame.output_ref)
  const second = out.position
  out.raw(',"output_ref_summary":')
  out.value(frame.output_ref_summary)
  out.raw(',"parent_frame_id":')
  out.value(frame.parent_frame_id)
  out.raw(',"row_count":')
  out.value(frame.row_count)
  out.raw(',"stage_id":')
  out.value(frame.stage_id)
  out.raw(',"status":')
  out.value(frame.status)
  out.raw(',"terminal_event_id":')
  out.value(frame.terminal_event_id)
  out.raw('}')
  if (row === null) return
  row.raw('{')
  row.copy(out, first + 1, firstEnd)
  row.copy(out, second, out.position)
}
