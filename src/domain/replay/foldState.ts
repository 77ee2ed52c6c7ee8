// The state while it is being folded: a head and five maps in order of first mention. Maps, because
// ids are data: a plain object would reorder "10" and "9" and trip over `__proto__`. It is made from
// nothing or from a stored document, and written out as a document again; inputs are never changed.

import { CpError } from '../../errors.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import {
  BUSINESS_OBJECT_FIELDS,
  type BusinessObject,
  createBusinessObject,
  evolveBusinessObject,
} from './businessObject.js'
import { increment } from './coerce.js'
import { COMMAND_FIELDS, type Command, createCommand, evolveCommand } from './command.js'
import { type FieldKind, isRegular } from './entityFields.js'
import { businessIdentity, type EventView } from './eventView.js'
import { createExecution, evolveExecution } from './execution.js'
import type { FoldRules } from './foldRules.js'
import { createFrame, evolveFrame, FRAME_FIELDS, type Frame } from './frame.js'
import { createLoop, evolveLoop, LOOP_FIELDS, type Loop } from './loop.js'
import { MAP_SURFACES, type MapSurface } from './profile.js'
import { createStage, evolveStage, STAGE_FIELDS, type Stage } from './stage.js'

/** Entities in order of first mention. Whoever gets one may change it. */
export interface EntityMap<T> extends Iterable<[string, T]> {
  get(key: string): T | undefined
  set(key: string, entity: T): unknown
}

export interface StateMaps {
  stages: EntityMap<Stage>
  frames: EntityMap<Frame>
  commands: EntityMap<Command>
  business_objects: EntityMap<BusinessObject>
  loops: EntityMap<Loop>
}

export class FoldState {
  /** Entities of a seed that lack keys or have more; their text cannot be written by pattern. */
  readonly irregular = new Set<JsonObject>()

  // Neighbouring events mostly speak of the same entities: no need to look them up again.
  private lastStageId = ''
  private lastStage: Stage | undefined
  private lastFrameId = ''
  private lastFrame: Frame | undefined
  private lastCommandId = ''
  private lastCommand: Command | undefined
  private lastLoopId = ''
  private lastLoop: Loop | undefined

  private constructor(
    readonly head: JsonObject,
    readonly maps: StateMaps,
  ) {
    head['event_count'] ??= 0
    head['last_event_id'] ??= null
    head['last_event_type'] ??= null
    if (!Object.hasOwn(head, 'execution')) head['execution'] = createExecution()
  }

  static create(head: JsonObject, base: JsonObject | null): FoldState {
    const whole: JsonObject = base === null ? {} : headOfBase(base)
    for (const key of Object.keys(head)) setKey(whole, key, head[key]!)
    const state = new FoldState(whole, {
      stages: new Map(),
      frames: new Map(),
      commands: new Map(),
      business_objects: new Map(),
      loops: new Map(),
    })
    if (base !== null) state.takeMaps(base)
    return state
  }

  /** Folds into maps that somebody else keeps. */
  static over(head: JsonObject, maps: StateMaps): FoldState {
    return new FoldState(head, maps)
  }

  /** The maps were sealed: entities must be asked for again before they are changed. */
  forget(): void {
    this.lastStageId = ''
    this.lastStage = undefined
    this.lastFrameId = ''
    this.lastFrame = undefined
    this.lastCommandId = ''
    this.lastCommand = undefined
    this.lastLoopId = ''
    this.lastLoop = undefined
  }

  evolve(view: EventView, rules: FoldRules): void {
    const { head } = this
    const count = head['event_count']
    head['event_count'] = increment(typeof count === 'number' ? count : rules.integer('event_count', count))
    head['last_event_id'] = view.id
    head['last_event_type'] = view.type
    const execution = head['execution']
    if (!isJsonObject(execution)) rules.fail('the seed state has no execution', 'execution')
    evolveExecution(execution, view, rules)
    if (view.stageId) this.evolveStage(view.stageId, view, rules)
    if (view.frameId) this.evolveFrame(view.frameId, view, rules)
    if (view.commandId) this.evolveCommand(view.commandId, view)
    this.evolveBusinessObject(view, rules)
    if (view.loopId) this.evolveLoop(view.loopId, view, rules)
  }

  private evolveStage(id: string, view: EventView, rules: FoldRules): void {
    let stage = id === this.lastStageId ? this.lastStage : this.maps.stages.get(id)
    if (stage === undefined) {
      stage = createStage(id, view)
      this.maps.stages.set(id, stage)
    }
    this.lastStageId = id
    this.lastStage = stage
    evolveStage(stage, view, rules)
  }

  private evolveFrame(id: string, view: EventView, rules: FoldRules): void {
    let frame = id === this.lastFrameId ? this.lastFrame : this.maps.frames.get(id)
    if (frame === undefined) {
      frame = createFrame(id, view)
      this.maps.frames.set(id, frame)
    }
    this.lastFrameId = id
    this.lastFrame = frame
    evolveFrame(frame, view, rules)
  }

  private evolveCommand(id: string, view: EventView): void {
    let command = id === this.lastCommandId ? this.lastCommand : this.maps.commands.get(id)
    if (command === undefined) {
      command = createCommand(id, view)
      this.maps.commands.set(id, command)
    }
    this.lastCommandId = id
    this.lastCommand = command
    evolveCommand(command, view)
  }

  private evolveLoop(id: string, view: EventView, rules: FoldRules): void {
    let loop = id === this.lastLoopId ? this.lastLoop : this.maps.loops.get(id)
    if (loop === undefined) {
      loop = createLoop(id, view, rules)
      this.maps.loops.set(id, loop)
    }
    this.lastLoopId = id
    this.lastLoop = loop
    evolveLoop(loop, view, rules)
  }

  private evolveBusinessObject(view: EventView, rules: FoldRules): void {
    const identity = businessIdentity(view)
    if (identity === null) return
    const objects = this.maps.business_objects
    let object = objects.get(identity.key)
    if (object === undefined) {
      object = createBusinessObject(identity, view)
      objects.set(identity.key, object)
    }
    evolveBusinessObject(object, view, rules)
  }

  private takeMaps(base: JsonObject): void {
    for (const surface of MAP_SURFACES) {
      const source = base[surface] ?? {}
      if (!isJsonObject(source)) throw badSeed(surface)
      const map = this.maps[surface] as EntityMap<JsonObject>
      for (const key of Object.keys(source)) {
        const stored = source[key]!
        if (!isJsonObject(stored)) throw badSeed(`${surface}/${key}`)
        map.set(key, this.takeEntity(surface, stored))
      }
    }
  }

  // A fresh object with the usual keys in the usual order, so that the engine treats it like its own.
  private takeEntity(surface: MapSurface, stored: JsonObject): JsonObject {
    const fields: Readonly<Record<string, FieldKind>> = ENTITY_FIELDS[surface]
    let copy: JsonObject = {}
    if (isRegular(stored, fields)) {
      for (const name of Object.keys(fields)) copy[name] = stored[name]!
    } else {
      copy = { ...stored }
      this.irregular.add(copy)
    }
    if (Array.isArray(copy['payload_refs'])) copy['payload_refs'] = copy['payload_refs'].slice()
    if (isJsonObject(copy['attributes'])) copy['attributes'] = { ...copy['attributes'] }
    return copy
  }
}

const ENTITY_FIELDS = {
  stages: STAGE_FIELDS,
  frames: FRAME_FIELDS,
  commands: COMMAND_FIELDS,
  business_objects: BUSINESS_OBJECT_FIELDS,
  loops: LOOP_FIELDS,
}

const NOT_IN_HEAD = new Set<string>(['checksum', 'checksum_algorithm', 'projection_checksums', ...MAP_SURFACES])

function headOfBase(base: JsonObject): JsonObject {
  const head: JsonObject = {}
  for (const key of Object.keys(base)) {
    if (!NOT_IN_HEAD.has(key)) setKey(head, key, base[key]!)
  }
  const execution = head['execution']
  if (isJsonObject(execution)) {
    const refs = execution['payload_refs']
    head['execution'] = Array.isArray(refs) ? { ...execution, payload_refs: refs.slice() } : { ...execution }
  }
  return head
}

function badSeed(place: string): CpError {
  return new CpError('corrupt', `the seed state cannot be continued: ${place} is not an object`, { details: { place } })
}

/** A map as a JSON object; the values are shared, not copied. */
export function mapDocument(map: Iterable<[string, JsonValue]>): JsonObject {
  const document: JsonObject = {}
  for (const [key, value] of map) setKey(document, key, value)
  return document
}
