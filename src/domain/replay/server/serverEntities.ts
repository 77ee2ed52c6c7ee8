// The entities of the Rust server's fold, each created by the first event that names it. A field that is null here is left out
// of its documents.
import { isJsonObject, type JsonObject, setKey } from '../../json/value.js'
import { compareIntegers, type Integer, increment } from '../coerce.js'
import { type ServerEvent, serverSummary } from './serverEvent.js'
import { serverInteger, serverText } from './serverValue.js'

export function serverStage(stages: Map<string, JsonObject>, event: ServerEvent): void {
  const { stageId, meta, id } = event
  if (stageId === null) return
  const stage = entityOf(stages, stageId, () => ({
    stage_id: stageId,
    status: 'UNKNOWN',
    kind: serverText(meta, 'kind'),
    step_name: event.nodeName ?? serverText(meta, 'step_name'),
    parent_stage_id: null,
    loop_event_id: null,
    opened_event_id: null,
    closed_event_id: null,
    frame_count: 0,
    row_count: 0,
    events_emitted: 0,
    failed_count: 0,
    last_event_id: null,
  }))
  stage['last_event_id'] = id
  stage['parent_stage_id'] = serverText(meta, 'parent_stage_id') ?? stage['parent_stage_id']!
  stage['loop_event_id'] = event.loopId ?? stage['loop_event_id']!
  if (event.type === 'stage.opened') {
    stage['status'] = 'OPEN'
    stage['opened_event_id'] = id
  } else if (event.type === 'stage.closed') {
    stage['status'] = event.status || 'CLOSED'
    stage['closed_event_id'] = id
    for (const name of ['frame_count', 'row_count', 'events_emitted', 'failed_count']) count(stage, name, event)
  } else if (event.status !== '') {
    stage['status'] = event.status
  }
}

export function serverFrame(frames: Map<string, JsonObject>, event: ServerEvent): void {
  const { frameId, meta, id } = event
  if (frameId === null) return
  const frame = entityOf(frames, frameId, () => ({
    frame_id: frameId,
    stage_id: null,
    parent_frame_id: null,
    command_id: null,
    claimed_event_id: null,
    terminal_event_id: null,
    status: 'UNKNOWN',
    row_count: 0,
    attempts: 0,
    last_event_id: null,
    events_emitted: 0,
    output_ref: null,
    output_ref_summary: null,
  }))
  frame['last_event_id'] = id
  frame['stage_id'] = event.stageId ?? frame['stage_id']!
  frame['parent_frame_id'] = serverText(meta, 'parent_frame_id') ?? frame['parent_frame_id']!
  frame['command_id'] = event.commandId ?? frame['command_id']!
  switch (event.type) {
    case 'frame.dispatched': {
      const attempt = serverInteger(meta, 'attempt') ?? 1
      frame['status'] = 'CLAIMED'
      frame['claimed_event_id'] = id
      if (compareIntegers(attempt, frame['attempts'] as Integer) > 0) frame['attempts'] = attempt
      break
    }
    case 'frame.started':
      frame['status'] = 'RUNNING'
      break
    case 'frame.abandoned':
      frame['status'] = event.status || 'ABANDONED'
      break
    case 'frame.committed':
      frame['status'] = event.status || 'COMPLETED'
      count(frame, 'row_count', event)
      endFrame(frame, event)
      break
    case 'frame.failed':
      frame['status'] = event.status || 'FAILED'
      endFrame(frame, event)
      break
    default:
      if (event.status !== '') frame['status'] = event.status
  }
}

function endFrame(frame: JsonObject, event: ServerEvent): void {
  count(frame, 'events_emitted', event)
  frame['terminal_event_id'] = event.id
  frame['output_ref'] = event.reference
  frame['output_ref_summary'] = event.reference === null ? null : serverSummary(event.reference)
}

const COMMAND_MOVES: Readonly<Record<string, { status: string; mark: string }>> = {
  'command.issued': { status: 'PENDING', mark: 'issued_event_id' },
  'command.claimed': { status: 'CLAIMED', mark: 'claimed_event_id' },
  'command.started': { status: 'RUNNING', mark: 'started_event_id' },
  'command.completed': { status: 'COMPLETED', mark: 'terminal_event_id' },
  'command.failed': { status: 'FAILED', mark: 'terminal_event_id' },
  'command.cancelled': { status: 'CANCELLED', mark: 'terminal_event_id' },
}

export function serverCommand(commands: Map<string, JsonObject>, event: ServerEvent): void {
  const { commandId, meta, id } = event
  if (commandId === null) return
  const command = entityOf(commands, commandId, () => ({
    command_id: commandId,
    stage_id: null,
    frame_id: null,
    parent_command_id: null,
    worker_id: null,
    worker_locator: null,
    status: 'UNKNOWN',
    issued_event_id: null,
    claimed_event_id: null,
    started_event_id: null,
    terminal_event_id: null,
    last_event_id: null,
  }))
  command['last_event_id'] = id
  command['stage_id'] = event.stageId ?? command['stage_id']!
  command['frame_id'] = event.frameId ?? command['frame_id']!
  command['parent_command_id'] = serverText(meta, 'parent_command_id') ?? command['parent_command_id']!
  command['worker_id'] = event.workerId ?? serverText(meta, 'worker_id') ?? command['worker_id']!
  command['worker_locator'] = serverText(meta, 'worker_locator') ?? command['worker_locator']!
  const move = Object.hasOwn(COMMAND_MOVES, event.type) ? COMMAND_MOVES[event.type] : undefined
  if (move !== undefined) {
    command['status'] = event.status || move.status
    command[move.mark] = id
  } else if (event.type.startsWith('command.') && event.status !== '') {
    command['status'] = event.status
  }
}

const LOOP_DONE = new Set(['command.completed', 'loop.shard.done'])
const LOOP_FAILED = new Set(['command.failed', 'loop.shard.failed'])
const LOOP_COMPLETED = new Set(['loop.done', 'loop.fanin.completed'])

export function serverLoop(loops: Map<string, JsonObject>, event: ServerEvent): void {
  const { loopId, meta, type } = event
  if (loopId === null) return
  const loop = entityOf(loops, loopId, () => ({
    loop_id: loopId,
    step_name: event.nodeName,
    total: serverInteger(meta, 'collection_size') ?? serverInteger(meta, 'total'),
    done: 0,
    failed: 0,
    completed: false,
    last_event_id: null,
  }))
  loop['last_event_id'] = event.id
  if (LOOP_DONE.has(type)) loop['done'] = increment(loop['done'] as Integer)
  else if (LOOP_FAILED.has(type)) loop['failed'] = increment(loop['failed'] as Integer)
  else if (LOOP_COMPLETED.has(type)) loop['completed'] = true
}

export function serverBusinessObject(objects: Map<string, JsonObject>, event: ServerEvent): void {
  const { business, businessMeta: told, id } = event
  if (business === null) return
  const object = entityOf(objects, business.key, () => ({
    object_key: business.key,
    object_type: business.type,
    object_id: business.id,
    status: 'UNKNOWN',
    version: 0,
    event_count: 0,
    first_event_id: id,
    last_event_id: null,
    deleted_event_id: null,
    last_event_type: null,
    attributes: {},
    payload_refs: [],
    last_payload_ref: null,
  }))
  object['last_event_id'] = id
  object['last_event_type'] = event.type
  const events = increment(object['event_count'] as Integer)
  object['event_count'] = events
  object['version'] = serverInteger(told, 'version') ?? serverInteger(event.meta, 'business_object_version') ?? events
  const status = event.status || suffixStatus(event.type)
  if (status !== null) {
    object['status'] = status
    if (status === 'DELETED') object['deleted_event_id'] = id
  }
  patch(object, told)
  if (event.reference === null) return
  const entry = { event_id: id, reference: event.reference, summary: serverSummary(event.reference) }
  ;(object['payload_refs'] as JsonObject[]).push(entry)
  object['last_payload_ref'] = entry
}

function suffixStatus(type: string): 'DELETED' | 'ACTIVE' | null {
  const lower = type.toLowerCase()
  if (/\.(?:deleted|removed)$/.test(lower)) return 'DELETED'
  return /\.(?:created|updated|upserted)$/.test(lower) ? 'ACTIVE' : null
}

/** A patch that is there is the patch, whatever it is; only without one the attributes are looked at. */
function patch(object: JsonObject, told: JsonObject): void {
  if (isJsonObject(told['state'])) object['attributes'] = { ...told['state'] }
  const given = Object.hasOwn(told, 'patch') ? told['patch'] : told['attributes']
  if (!isJsonObject(given)) return
  const attributes = { ...(object['attributes'] as JsonObject) }
  for (const key of Object.keys(given)) setKey(attributes, key, given[key]!)
  object['attributes'] = attributes
}

function entityOf(map: Map<string, JsonObject>, id: string, create: () => JsonObject): JsonObject {
  let entity = map.get(id)
  if (entity === undefined) {
    entity = create()
    map.set(id, entity)
  }
  return entity
}

function count(entity: JsonObject, name: string, { meta }: ServerEvent): void {
  entity[name] = serverInteger(meta, name) ?? entity[name]!
}
