// One event as the fold sees it: its id, its kind, and the ids of the entities it touches, found by the
// order of precedence between columns, aggregate path and meta. One view is reused for a whole log, so
// nothing may keep it beyond the event. Reading never changes the event.

import type { JsonObject, JsonValue } from '../json/value.js'
import {
  EMPTY_OBJECT,
  firstTruthy,
  type Integer,
  isTruthy,
  type Maybe,
  objectOr,
  textOf,
  textOrNull,
} from './coerce.js'
import type { EventKind } from './eventType.js'
import type { FoldRules } from './foldRules.js'

export interface BusinessIdentity {
  key: string
  type: string
  id: string
}

export class EventView {
  id: Integer | null = null
  type = ''
  kind!: EventKind
  event: JsonObject = EMPTY_OBJECT
  meta: JsonObject = EMPTY_OBJECT
  status: JsonValue = null
  nodeName: JsonValue = null
  payloadRef: JsonValue = null
  stageId: string | null = null
  frameId: string | null = null
  commandId: string | null = null
  loopId: string | null = null
  // Neighbouring events mostly speak of the same entities; their ids are not made into text again.
  private stageColumn: Maybe = null
  private frameColumn: Maybe = null
  private commandColumn: Maybe = null

  read(event: JsonObject, id: Integer | null, rules: FoldRules): void {
    const { event_type: type } = event
    const meta = objectOr(event['meta'], EMPTY_OBJECT)
    this.id = id
    this.event = event
    this.meta = meta
    this.type = typeof type === 'string' ? type : isTruthy(type) ? textOf(type) : ''
    this.kind = rules.kindOf(this.type)
    this.status = event['status'] ?? null
    this.nodeName = event['node_name'] ?? null
    this.payloadRef = event['payload_ref'] ?? objectOr(event['result'], EMPTY_OBJECT)['reference'] ?? null
    const { stage_id: stage, frame_id: frame, command_id: command } = event
    if (stage !== this.stageColumn || !stage) this.stageId = entityId(event, 'stage', stage, meta['stage_id'])
    if (frame !== this.frameColumn || !frame) this.frameId = entityId(event, 'frame', frame, meta['frame_id'])
    if (command !== this.commandColumn || !command) this.commandId = textOrNull(command ?? meta['command_id'])
    this.stageColumn = stage
    this.frameColumn = frame
    this.commandColumn = command
    this.loopId = textOrNull(meta['loop_id'] ?? meta['loop_event_id'] ?? meta['__loop_epoch_id'])
  }
}

function entityId(event: JsonObject, noun: 'stage' | 'frame', column: Maybe, fromMeta: Maybe): string | null {
  if (column !== null && column !== undefined) return textOf(column)
  if (event['aggregate_type'] === noun) {
    const aggregateId = event['aggregate_id']
    if (isTruthy(aggregateId)) {
      const path = textOf(aggregateId)
      return path.startsWith(`${noun}/`) ? path.slice(noun.length + 1) : path
    }
  }
  return textOrNull(fromMeta)
}

export function businessIdentity(view: EventView): BusinessIdentity | null {
  const { event, meta } = view
  const told = meta['business_object']
  const isAggregate = event['aggregate_type'] === 'business_object'
  // Most events speak of no business object; this is what tells them apart at the least cost.
  if (!isAggregate && !told && !meta['business_object_type'] && isAbsent(meta['object_type'])) return null
  const object = objectOr(told, EMPTY_OBJECT)
  let type = firstTruthy(object['object_type'], object['type'], meta['business_object_type'], meta['object_type'])
  let id = firstTruthy(object['object_id'], object['id'], meta['business_object_id'], meta['object_id'])
  const aggregateId = event['aggregate_id'] ?? null
  if (isAggregate && aggregateId !== null) {
    const path = textOf(aggregateId)
    const parts = path.split('/').filter((part) => part !== '')
    if (parts[0] === 'business_object') parts.shift()
    const [first, ...rest] = parts
    type = firstTruthy(type, rest.length > 0 ? first : 'business_object')
    id = firstTruthy(id, rest.length > 0 ? rest.join('/') : path)
  }
  if (type === null || id === null) return null
  const [typeText, idText] = [textOf(type), textOf(id)]
  return { key: `${typeText}/${idText}`, type: typeText, id: idText }
}

function isAbsent(value: Maybe): boolean {
  return value === null || value === undefined
}
