// The fold of the Rust server of NoETL, as another generation of rules beside `python` and `cp`: few types move the status, keys
// without a value are left out, checksums are objects over raw documents. It continues no snapshot and warns of nothing.
import { CpError } from '../../../errors.js'
import { sha256Hex } from '../../json/canonical.js'
import { compareCodePoints } from '../../json/codePoints.js'
import { type JsonObject, type JsonValue, setKey } from '../../json/value.js'
import type { Fold, FoldOptions, FoldResult } from '../foldTypes.js'
import type { PayloadReference } from '../payloadReferences.js'
import { MAP_SURFACES, type MapSurface, type ProjectionChecksums, type Surface } from '../profile.js'
import { serverBusinessObject, serverCommand, serverFrame, serverLoop, serverStage } from './serverEntities.js'
import { type ServerEvent, serverEvent, serverSummary } from './serverEvent.js'
import { serverJson } from './serverValue.js'

const STATUS: ReadonlyMap<string, string> = new Map([
  ['playbook.completed', 'COMPLETED'],
  ['playbook_completed', 'COMPLETED'],
  ['playbook.failed', 'FAILED'],
  ['playbook_failed', 'FAILED'],
  ['playbook.cancelled', 'CANCELLED'],
  ['playbook_cancelled', 'CANCELLED'],
])
const ENTERS = new Set(['step.enter', 'step_enter', 'step_started'])
const NAMES_NODE = new Set([...ENTERS, 'step.exit', 'step_completed', 'command.completed'])

const NAME_OF: Readonly<Record<Surface, string>> = {
  execution: 'execution',
  stages: 'stage',
  frames: 'frame',
  commands: 'command',
  business_objects: 'business_object',
  loops: 'loop',
}

type Maps = Record<MapSurface, Map<string, JsonObject>>

/** Events must come in the order of their ids. */
export function createServerFold(options: FoldOptions): Fold {
  if (options.baseState) throw new CpError('refused', 'profile server continues no snapshot')
  const head: JsonObject = {
    tenant_id: options.tenantId,
    organization_id: options.organizationId,
    execution_id: options.executionId,
    projection: options.projection,
    event_count: 0,
    last_event_id: null,
    last_event_type: null,
  }
  const execution: JsonObject = { status: 'UNKNOWN', last_node_name: null, payload_refs: [] }
  const references: JsonObject[] = []
  const maps: Maps = {
    stages: new Map(),
    frames: new Map(),
    commands: new Map(),
    business_objects: new Map(),
    loops: new Map(),
  }
  let eventCount = 0

  return {
    add(row) {
      const event = serverEvent(row)
      eventCount++
      head['last_event_id'] = event.id
      head['last_event_type'] = event.type
      moveExecution(execution, event)
      const { reference } = event
      if (reference !== null) references.push({ event_id: event.id, reference, summary: serverSummary(reference) })
      serverStage(maps.stages, event)
      serverFrame(maps.frames, event)
      serverCommand(maps.commands, event)
      serverLoop(maps.loops, event)
      serverBusinessObject(maps.business_objects, event)
    },
    finish() {
      head['event_count'] = eventCount
      execution['payload_refs'] = references
      return resultOf(head, execution, maps, eventCount)
    },
  }
}

function moveExecution(execution: JsonObject, event: ServerEvent): void {
  const status = STATUS.get(event.type)
  if (status !== undefined) execution['status'] = status
  else if (ENTERS.has(event.type) && execution['status'] === 'UNKNOWN') execution['status'] = 'RUNNING'
  if (NAMES_NODE.has(event.type) && event.nodeName !== null) execution['last_node_name'] = event.nodeName
}

function resultOf(head: JsonObject, execution: JsonObject, maps: Maps, eventCount: number): FoldResult {
  const document: JsonObject = { ...present(head), execution: present(execution) }
  for (const surface of MAP_SURFACES) document[surface] = mapOf(maps[surface])
  const sums = Object.fromEntries(
    (['execution', ...MAP_SURFACES] as const).map((surface) => [surface, sha256Hex(serverJson(document[surface]!))]),
  ) as ProjectionChecksums
  const named: JsonObject = {}
  for (const surface of Object.keys(NAME_OF) as Surface[]) named[NAME_OF[surface]] = checksumOf(sums[surface])
  const hashed: JsonObject = { ...document, projection_checksums: named }
  const text = serverJson(hashed)
  const checksum = sha256Hex(text)
  return {
    state: { ...document, checksum: checksumOf(checksum), projection_checksums: named },
    checksum,
    projectionChecksums: sums,
    eventCount,
    lastEventId: (head['last_event_id'] ?? null) as FoldResult['lastEventId'],
    duplicates: 0,
    warnings: [],
    unknownTypes: { count: 0, types: [] },
    payloadReferences: () => referencesOf(execution, maps),
    canonicalText: () => text,
    canonicalBytes: null,
  }
}

function checksumOf(value: string): JsonObject {
  return { type: 'sha256', value }
}

/** Without the keys that have no value. */
function present(entity: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entity).filter(([, value]) => value !== null))
}

function mapOf(map: ReadonlyMap<string, JsonObject>): JsonObject {
  const document: JsonObject = {}
  for (const key of [...map.keys()].sort(compareCodePoints)) setKey(document, key, present(map.get(key)!))
  return document
}

function referencesOf(execution: JsonObject, { frames, business_objects: objects }: Maps): PayloadReference[] {
  const found: PayloadReference[] = []
  for (const { event_id, reference } of entriesOf(execution['payload_refs'])) {
    found.push({ scope: 'execution', event_id, reference })
  }
  for (const [frame_id, frame] of frames) {
    const { output_ref: reference, terminal_event_id: event_id } = frame
    if (reference != null) found.push({ scope: 'frame', frame_id, event_id: event_id ?? null, reference })
  }
  for (const [object_key, object] of objects) {
    for (const { event_id, reference } of entriesOf(object['payload_refs'])) {
      found.push({ scope: 'business_object', object_key, event_id, reference })
    }
  }
  return found
}

function entriesOf(list: JsonValue | undefined): { event_id: JsonValue; reference: JsonValue }[] {
  return (list ?? []) as unknown as { event_id: JsonValue; reference: JsonValue }[]
}
