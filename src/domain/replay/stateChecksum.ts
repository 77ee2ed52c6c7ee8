// Checksums of a folded state: one over the whole document, one per surface over comparable rows. The
// canonical text is written piece by piece straight from the maps and hashed on the way; it must be
// exactly what canonicalJson would write. The row of an entity is nearly the same text as the entity, so
// both are made in one go where their orders agree.

import { canonicalJson, canonicalText } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { businessObjectRow } from './businessObject.js'
import { commandRow, writeCommand } from './command.js'
import { type EntitySink, HashSink, RowSink, type TextSink } from './entitySink.js'
import { executionRow } from './execution.js'
import type { FoldRules } from './foldRules.js'
import type { FoldState } from './foldState.js'
import { frameRow, writeFrame } from './frame.js'
import { loopRow } from './loop.js'
import { MAP_SURFACES, type MapSurface, type ProjectionChecksums } from './profile.js'
import { sortById, sortByText } from './rowOrder.js'
import { stageRow, writeStage } from './stage.js'

type Entry = readonly [key: string, entity: JsonObject]

interface SurfaceText {
  /** Writes a regular entity in the pieces from which its row is taken. */
  write: ((entity: never, sink: EntitySink) => void) | null
  row(entity: JsonObject, key: string, rules: FoldRules): JsonObject
  isSortedByText: boolean
}

const SURFACE_TEXT: Readonly<Record<MapSurface, SurfaceText>> = {
  stages: { write: writeStage, row: stageRow, isSortedByText: false },
  frames: { write: writeFrame, row: frameRow, isSortedByText: false },
  commands: { write: writeCommand, row: commandRow, isSortedByText: false },
  business_objects: { write: null, row: businessObjectRow, isSortedByText: true },
  loops: { write: null, row: loopRow, isSortedByText: true },
}

export interface StateChecksums {
  checksum: string
  projections: ProjectionChecksums
}

/**
 * The whole document with only the shown maps filled, and all surfaces in full. `onChunk` is called after every piece
 * that was hashed, and may throw to give up.
 */
export function stateChecksums(
  state: FoldState,
  shown: ReadonlySet<MapSurface>,
  rules: FoldRules,
  kept: Buffer[] | null = null,
  onChunk?: () => void,
): StateChecksums {
  rules.eventId = null
  const sink = new HashSink(kept, onChunk)
  const rows = new Map<MapSurface, string>()
  writeHead(state, sink, (surface) => rows.set(surface, writeSurface(state, surface, shown, rules, sink)))
  return {
    checksum: sink.digest(),
    projections: {
      execution: rowsChecksum('executions', [executionRow(state.head, rules)]),
      stages: rows.get('stages')!,
      frames: rows.get('frames')!,
      commands: rows.get('commands')!,
      business_objects: rows.get('business_objects')!,
      loops: rows.get('loops')!,
    },
  }
}

/** The canonical text itself; for looking at differences. */
export function stateText(state: FoldState, shown: ReadonlySet<MapSurface>): string {
  const pieces: string[] = []
  const sink: TextSink = { write: (text) => pieces.push(text) }
  writeHead(state, sink, (surface) => {
    if (!shown.has(surface)) return sink.write('{}')
    const entries = sortByText(Array.from<Entry>(state.maps[surface]), keyOf)
    sink.write('{')
    entries.forEach(([key, entity], index) => {
      sink.write(`${index === 0 ? '' : ','}${canonicalText(key)}:${canonicalJson(entity)}`)
    })
    sink.write('}')
  })
  return pieces.join('')
}

export function rowsChecksum(wrap: string, rows: readonly JsonObject[]): string {
  const sink = new RowSink(wrap)
  for (const row of rows) sink.row(canonicalJson(row))
  return sink.digest()
}

function writeHead(state: FoldState, sink: TextSink, writeMap: (surface: MapSurface) => void): void {
  const keys = [...Object.keys(state.head), ...MAP_SURFACES].sort(compareCodePoints)
  keys.forEach((key, index) => {
    sink.write(`${index === 0 ? '{' : ','}${canonicalText(key)}:`)
    if ((MAP_SURFACES as readonly string[]).includes(key)) writeMap(key as MapSurface)
    else if (key === 'execution') writeExecution(state.head[key]!, sink)
    else sink.write(canonicalJson(state.head[key]!))
  })
  sink.write('}')
}

// One reference per event makes its list by far the longest of the head.
function writeExecution(execution: JsonValue, sink: TextSink): void {
  if (!isJsonObject(execution) || Object.keys(execution).length === 0) {
    sink.write(canonicalJson(execution))
    return
  }
  const names = Object.keys(execution).sort(compareCodePoints)
  names.forEach((name, index) => {
    sink.write(`${index === 0 ? '{' : ','}${canonicalText(name)}:`)
    const value = execution[name]!
    if (Array.isArray(value)) writeList(value, sink)
    else sink.write(canonicalJson(value))
  })
  sink.write('}')
}

function writeList(list: readonly JsonValue[], sink: TextSink): void {
  sink.write('[')
  for (let index = 0; index < list.length; index++) {
    sink.write(index === 0 ? canonicalJson(list[index]!) : `,${canonicalJson(list[index]!)}`)
  }
  sink.write(']')
}

/** Writes the map into the state text and returns the checksum of its rows. */
function writeSurface(
  state: FoldState,
  surface: MapSurface,
  shown: ReadonlySet<MapSurface>,
  rules: FoldRules,
  sink: HashSink,
): string {
  const entries = Array.from<Entry>(state.maps[surface])
  const byText = sortByText(entries, keyOf)
  const byId = SURFACE_TEXT[surface].isSortedByText ? byText : sortById(entries, keyOf, rules.profile)
  const rows = new RowSink(surface)
  const isShown = shown.has(surface)
  const isShared = isShown && byText.every((entry, index) => entry === byId[index])
  if (isShared) sink.shareWith(rows)
  if (isShown) writeEntities(state, surface, byText, sink, isShared ? { rows, rules } : null)
  else sink.write('{}')
  if (isShared) sink.shareWith(null)
  else writeRows(state, surface, byId, rows, rules)
  return rows.digest()
}

function keyOf(entry: Entry): string {
  return entry[0]
}

function writeEntities(
  state: FoldState,
  surface: MapSurface,
  entries: readonly Entry[],
  sink: HashSink,
  shared: { rows: RowSink; rules: FoldRules } | null,
): void {
  const { write, row } = SURFACE_TEXT[surface]
  sink.write('{')
  for (let index = 0; index < entries.length; index++) {
    const [key, entity] = entries[index]!
    sink.write(index === 0 ? `${canonicalText(key)}:` : `,${canonicalText(key)}:`)
    if (write !== null && isPatterned(state, entity)) {
      write(entity as never, sink)
    } else {
      sink.write(canonicalJson(entity))
      if (shared !== null) {
        // Rows that are waiting to be copied come before this one.
        if (write !== null) sink.flush()
        shared.rows.row(canonicalJson(row(entity, key, shared.rules)))
      }
    }
  }
  sink.write('}')
}

function writeRows(
  state: FoldState,
  surface: MapSurface,
  entries: readonly Entry[],
  rows: RowSink,
  rules: FoldRules,
): void {
  const { write, row } = SURFACE_TEXT[surface]
  for (const [key, entity] of entries) {
    if (write !== null && isPatterned(state, entity)) write(entity as never, rows)
    else rows.row(canonicalJson(row(entity, key, rules)))
  }
}

function isPatterned(state: FoldState, entity: JsonObject): boolean {
  return state.irregular.size === 0 || !state.irregular.has(entity)
}
