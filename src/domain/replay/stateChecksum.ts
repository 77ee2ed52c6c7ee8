// Checksums of a folded state: one over the whole document, one per surface over comparable rows. The
// canonical text is written piece by piece straight from the maps and hashed on the way; it must be
// exactly what canonicalJson would write. The row of an entity is nearly the same text as the entity, so
// both are made in one go where their orders agree: half the time of a large replay is spent here.

import { CanonicalWriter } from '../json/canonicalWriter.js'
import { compareCodePoints } from '../json/codePoints.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { businessObjectRow } from './businessObject.js'
import { commandRow, writeCommand } from './command.js'
import { executionRow } from './execution.js'
import type { FoldRules } from './foldRules.js'
import type { FoldState } from './foldState.js'
import { frameRow, writeFrame } from './frame.js'
import { HashSink } from './hashSink.js'
import { loopRow } from './loop.js'
import { MAP_SURFACES, type MapSurface, type ProjectionChecksums } from './profile.js'
import { sortById, sortByText } from './rowOrder.js'
import { stageRow, writeStage } from './stage.js'

type Entry = readonly [key: string, entity: JsonObject]

interface SurfaceText {
  /** Writes a regular entity, and its row from the same text. */
  write: ((out: CanonicalWriter, entity: never, row: CanonicalWriter | null) => void) | null
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

/** The whole document with only the shown maps filled, and all surfaces in full. */
export function stateChecksums(state: FoldState, shown: ReadonlySet<MapSurface>, rules: FoldRules): StateChecksums {
  rules.eventId = null
  const out = new HashSink()
  const rows = new Map<MapSurface, string>()
  writeHead(state, out, (surface) => rows.set(surface, writeSurface(state, surface, shown, rules, out)))
  return {
    checksum: out.digest(),
    projections: {
      execution: hashRows('executions', [executionRow(state.head, rules)]),
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
  const out = new CanonicalWriter()
  writeHead(state, out, (surface) => {
    if (!shown.has(surface)) out.raw('{}')
    else writeEntities(state, surface, sortByText(Array.from<Entry>(state.maps[surface]), keyOf), out, null)
  })
  return out.text()
}

export function hashRows(wrap: string, rows: readonly JsonObject[]): string {
  const out = new HashSink()
  out.raw(`{"${wrap}":[`)
  for (let index = 0; index < rows.length; index++) {
    if (index > 0) out.raw(',')
    out.value(rows[index]!)
    out.rest()
  }
  out.raw(']}')
  return out.digest()
}

function writeHead(state: FoldState, out: CanonicalWriter, writeMap: (surface: MapSurface) => void): void {
  const keys = [...Object.keys(state.head), ...MAP_SURFACES].sort(compareCodePoints)
  let separator = '{'
  for (const key of keys) {
    out.raw(separator)
    separator = ','
    out.string(key)
    out.raw(':')
    if ((MAP_SURFACES as readonly string[]).includes(key)) writeMap(key as MapSurface)
    else if (key === 'execution') writeExecution(state.head[key]!, out)
    else out.value(state.head[key]!)
  }
  out.raw('}')
}

// One reference per event makes its list by far the longest of the head.
function writeExecution(execution: JsonValue, out: CanonicalWriter): void {
  if (!isJsonObject(execution) || Object.keys(execution).length === 0) {
    out.value(execution)
    return
  }
  let separator = '{'
  for (const name of Object.keys(execution).sort(compareCodePoints)) {
    out.raw(separator)
    separator = ','
    out.string(name)
    out.raw(':')
    const value = execution[name]!
    if (Array.isArray(value)) writeList(value, out)
    else out.value(value)
  }
  out.raw('}')
}

function writeList(list: readonly JsonValue[], out: CanonicalWriter): void {
  out.raw('[')
  for (let index = 0; index < list.length; index++) {
    if (index > 0) out.raw(',')
    out.value(list[index]!)
    out.rest()
  }
  out.raw(']')
}

/** Writes the map into the state text and returns the checksum of its rows. */
function writeSurface(
  state: FoldState,
  surface: MapSurface,
  shown: ReadonlySet<MapSurface>,
  rules: FoldRules,
  out: HashSink,
): string {
  const entries = Array.from<Entry>(state.maps[surface])
  const byText = sortByText(entries, keyOf)
  const byId = SURFACE_TEXT[surface].isSortedByText ? byText : sortById(entries, keyOf, rules.profile)
  const rows = new HashSink()
  rows.raw(`{"${surface}":[`)
  if (shown.has(surface) && byText.every((entry, index) => entry === byId[index])) {
    writeEntities(state, surface, byText, out, { out: rows, rules })
  } else {
    if (shown.has(surface)) writeEntities(state, surface, byText, out, null)
    else out.raw('{}')
    writeEntities(state, surface, byId, new ScratchWriter(), { out: rows, rules })
  }
  rows.raw(']}')
  return rows.digest()
}

function keyOf(entry: Entry): string {
  return entry[0]
}

/** For text that is only needed until its row has been copied from it. */
class ScratchWriter extends CanonicalWriter {
  override rest(): void {
    this.reset()
  }
}

function writeEntities(
  state: FoldState,
  surface: MapSurface,
  entries: readonly Entry[],
  out: CanonicalWriter,
  rows: { out: CanonicalWriter; rules: FoldRules } | null,
): void {
  const { irregular } = state
  const { write, row } = SURFACE_TEXT[surface]
  const rowOut = rows === null ? null : rows.out
  out.raw('{')
  for (let index = 0; index < entries.length; index++) {
    const [key, entity] = entries[index]!
    if (index > 0) {
      out.raw(',')
      rowOut?.raw(',')
    }
    out.string(key)
    out.raw(':')
    if (write !== null && (irregular.size === 0 || !irregular.has(entity))) {
      write(out, entity as never, rowOut)
    } else {
      out.value(entity)
      if (rows !== null) rows.out.value(row(entity, key, rows.rules))
    }
    rowOut?.rest()
    out.rest()
  }
  out.raw('}')
}
