// Comparable rows of a stored state document or of live tables, and their checksums. A replayed state
// and the tables it should agree with are brought into the same rows, so that equal checksums mean equal
// content. Rows that are not objects are left out.

import type { JsonObject, JsonValue } from '../json/value.js'
import { isJsonObject } from '../json/value.js'
import { businessObjectRow } from './businessObject.js'
import { type Maybe, textOf } from './coerce.js'
import { commandRow } from './command.js'
import { executionRow } from './execution.js'
import { FoldRules } from './foldRules.js'
import { frameRow } from './frame.js'
import { loopRow } from './loop.js'
import { type FoldProfile, type MapSurface, type ProjectionChecksums, SURFACES, type Surface } from './profile.js'
import { sortById, sortByText } from './rowOrder.js'
import { stageRow } from './stage.js'
import { rowsChecksum } from './stateChecksum.js'
import { FoldWarnings } from './warnings.js'

export type SurfaceRows = Record<Surface, JsonObject[]>

const ROW_ID: Readonly<Record<Surface, string>> = {
  execution: 'execution_id',
  stages: 'stage_id',
  frames: 'frame_id',
  commands: 'command_id',
  business_objects: 'object_key',
  loops: 'loop_id',
}

/** Rows as they were exported from tables, in any order. */
export function liveSurfaceRows(profile: FoldProfile, exported: JsonObject): SurfaceRows {
  const rules = new FoldRules(profile, new FoldWarnings())
  return mapSurfaces((surface) => {
    const rows = objectsOf(exported[surface]).map((entity) => rowOf(surface, entity, null, rules, true))
    return sortRows(surface, rows, profile)
  })
}

/** Rows of a state document. */
export function documentSurfaceRows(profile: FoldProfile, state: JsonObject): SurfaceRows {
  const rules = new FoldRules(profile, new FoldWarnings())
  return mapSurfaces((surface) => {
    if (surface === 'execution') return [executionRow(state, rules)]
    const map = state[surface]
    if (!isJsonObject(map)) return []
    const rows: JsonObject[] = []
    for (const key of Object.keys(map)) {
      const entity = map[key]
      if (isJsonObject(entity)) rows.push(rowOf(surface, entity, key, rules, false))
    }
    return sortRows(surface, rows, profile)
  })
}

export function surfaceChecksums(rows: SurfaceRows): ProjectionChecksums {
  return mapSurfaces((surface) => rowsChecksum(surface === 'execution' ? 'executions' : surface, rows[surface]))
}

export type ParityReport = {
  matched: boolean
  surfaces: Record<Surface, { replayed: string | null; live: string | null; matched: boolean }>
}

/** Surface by surface: does the replayed state agree with the live tables? */
export function parityReport(replayed: Partial<ProjectionChecksums>, live: Partial<ProjectionChecksums>): ParityReport {
  const surfaces = mapSurfaces((surface) => {
    const [left, right] = [replayed[surface] ?? null, live[surface] ?? null]
    return { replayed: left, live: right, matched: left !== null && left === right }
  })
  return { matched: SURFACES.every((surface) => surfaces[surface].matched), surfaces }
}

function rowOf(
  surface: Surface,
  entity: JsonObject,
  key: string | null,
  rules: FoldRules,
  isLive: boolean,
): JsonObject {
  if (surface === 'execution') return executionRow(entity, rules)
  if (surface === 'frames') return frameRow(entity, key, rules, isLive)
  return PLAIN_ROWS[surface](entity, key, rules)
}

const PLAIN_ROWS: Readonly<
  Record<Exclude<MapSurface, 'frames'>, (entity: JsonObject, key: string | null, rules: FoldRules) => JsonObject>
> = {
  stages: stageRow,
  commands: commandRow,
  business_objects: businessObjectRow,
  loops: loopRow,
}

function sortRows(surface: Surface, rows: JsonObject[], profile: FoldProfile): JsonObject[] {
  const idOf = (row: JsonObject) => textOf(row[ROW_ID[surface]] ?? null)
  if (surface === 'business_objects' || surface === 'loops') return sortByText(rows, idOf)
  return sortById(rows, idOf, profile)
}

function objectsOf(rows: Maybe): JsonObject[] {
  return Array.isArray(rows) ? rows.filter((row: JsonValue): row is JsonObject => isJsonObject(row)) : []
}

function mapSurfaces<T>(make: (surface: Surface) => T): Record<Surface, T> {
  return {
    execution: make('execution'),
    stages: make('stages'),
    frames: make('frames'),
    commands: make('commands'),
    business_objects: make('business_objects'),
    loops: make('loops'),
  }
}
