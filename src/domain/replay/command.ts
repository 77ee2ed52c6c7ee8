// A command: issued, claimed and started by a worker, then completed, failed or cancelled. Only command
// events move its status. Issuing an id again overwrites the early marks, never the end.

import { canonicalJson } from '../json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { EMPTY_OBJECT, isTruthy, textOf, textOrNull, truthyOr } from './coerce.js'
import type { FieldKinds } from './entityFields.js'
import type { EntitySink } from './entitySink.js'
import type { EventView } from './eventView.js'
import type { FoldRules } from './foldRules.js'

export type Command = {
  command_id: JsonValue
  stage_id: JsonValue
  frame_id: JsonValue
  parent_command_id: JsonValue
  worker_id: JsonValue
  worker_locator: JsonValue
  locality: JsonValue
  source_locality: JsonValue
  placement: JsonValue
  fanout_reduce: JsonValue
  status: JsonValue
  issued_event_id: JsonValue
  claimed_event_id: JsonValue
  started_event_id: JsonValue
  terminal_event_id: JsonValue
  last_event_id: JsonValue
}

export type CommandRow = Omit<Command, 'last_event_id'>

export const COMMAND_FIELDS: FieldKinds<Command> = {
  command_id: 'id',
  stage_id: 'text',
  frame_id: 'text',
  parent_command_id: 'text',
  worker_id: 'text',
  worker_locator: 'text',
  locality: 'object',
  source_locality: 'object',
  placement: 'object',
  fanout_reduce: 'object',
  status: 'any',
  issued_event_id: 'integer',
  claimed_event_id: 'integer',
  started_event_id: 'integer',
  terminal_event_id: 'integer',
  last_event_id: 'any',
}

export function createCommand(id: string, view: EventView): Command {
  return {
    command_id: id,
    stage_id: view.stageId,
    frame_id: view.frameId,
    parent_command_id: null,
    worker_id: null,
    worker_locator: null,
    locality: EMPTY_OBJECT,
    source_locality: EMPTY_OBJECT,
    placement: EMPTY_OBJECT,
    fanout_reduce: EMPTY_OBJECT,
    status: 'UNKNOWN',
    issued_event_id: null,
    claimed_event_id: null,
    started_event_id: null,
    terminal_event_id: null,
    last_event_id: null,
  }
}

export function evolveCommand(command: Command, view: EventView): void {
  const { meta } = view
  command.last_event_id = view.id
  if (view.stageId !== null) command.stage_id = view.stageId
  if (view.frameId) command.frame_id = view.frameId
  const parent = meta['parent_command_id']
  if (parent !== null && parent !== undefined) command.parent_command_id = textOf(parent)
  const column = view.event['worker_id']
  const worker = isTruthy(column) ? column : meta['worker_id']
  if (worker !== null && worker !== undefined) command.worker_id = textOf(worker)
  const locator = meta['worker_locator']
  if (locator !== null && locator !== undefined) command.worker_locator = textOf(locator)
  const { locality, source_locality: source, placement, fanout_reduce: fanout } = meta
  if (isJsonObject(locality)) command.locality = locality
  if (isJsonObject(source)) command.source_locality = source
  if (isJsonObject(placement)) command.placement = placement
  if (isJsonObject(fanout)) command.fanout_reduce = fanout
  if (view.kind.command !== null) moveCommand(command, view)
}

function moveCommand(command: Command, view: EventView): void {
  switch (view.kind.command) {
    case 'issued':
      command.status = truthyOr(view.status, 'PENDING')
      command.issued_event_id = view.id
      break
    case 'claimed':
      command.status = truthyOr(view.status, 'CLAIMED')
      command.claimed_event_id = view.id
      break
    case 'started':
      command.status = truthyOr(view.status, 'RUNNING')
      command.started_event_id = view.id
      break
    case 'completed':
      command.status = truthyOr(view.status, 'COMPLETED')
      command.terminal_event_id = view.id
      break
    case 'failed':
      command.status = truthyOr(view.status, 'FAILED')
      command.terminal_event_id = view.id
      break
    case 'cancelled':
      command.status = truthyOr(view.status, 'CANCELLED')
      command.terminal_event_id = view.id
      break
    default:
      if (isTruthy(view.status)) command.status = textOf(view.status)
  }
}

/** The comparable row of a command, from a folded state or from a live table. */
export function commandRow(entity: JsonObject, key: string | null, rules: FoldRules): CommandRow {
  return {
    claimed_event_id: rules.rowInteger('claimed_event_id', entity['claimed_event_id']),
    command_id: textOrNull(entity['command_id'] ?? key),
    fanout_reduce: truthyOr(entity['fanout_reduce'], {}),
    frame_id: textOrNull(entity['frame_id']),
    issued_event_id: rules.rowInteger('issued_event_id', entity['issued_event_id']),
    locality: truthyOr(entity['locality'], {}),
    parent_command_id: textOrNull(entity['parent_command_id']),
    placement: truthyOr(entity['placement'], {}),
    source_locality: truthyOr(entity['source_locality'], {}),
    stage_id: textOrNull(entity['stage_id']),
    started_event_id: rules.rowInteger('started_event_id', entity['started_event_id']),
    status: entity['status'] ?? null,
    terminal_event_id: rules.rowInteger('terminal_event_id', entity['terminal_event_id']),
    worker_id: textOrNull(entity['worker_id']),
    worker_locator: textOrNull(entity['worker_locator']),
  }
}

/** Canonical text of a regular command. Its row has the same keys but one. */
export function writeCommand(command: Command, sink: EntitySink): void {
  const kept =
    `{"claimed_event_id":${canonicalJson(command.claimed_event_id)}` +
    `,"command_id":${canonicalJson(command.command_id)}` +
    `,"fanout_reduce":${canonicalJson(command.fanout_reduce)}` +
    `,"frame_id":${canonicalJson(command.frame_id)}` +
    `,"issued_event_id":${canonicalJson(command.issued_event_id)}`
  const keptToo =
    `,"locality":${canonicalJson(command.locality)}` +
    `,"parent_command_id":${canonicalJson(command.parent_command_id)}` +
    `,"placement":${canonicalJson(command.placement)}` +
    `,"source_locality":${canonicalJson(command.source_locality)}` +
    `,"stage_id":${canonicalJson(command.stage_id)}` +
    `,"started_event_id":${canonicalJson(command.started_event_id)}` +
    `,"status":${canonicalJson(command.status)}` +
    `,"terminal_event_id":${canonicalJson(command.terminal_event_id)}` +
    `,"worker_id":${canonicalJson(command.worker_id)}` +
    `,"worker_locator":${canonicalJson(command.worker_locator)}`
  sink.entity('', kept, `,"last_event_id":${canonicalJson(command.last_event_id)}`, `${keptToo}}`)
}
