// Checksums of a folded state: one over the whole document, one per surface over comparable rows. The
// canonical text is produced piece by piece straight from the maps and hashed on the way; it must be
// exactly what canonicalJson would write for the document.

import { canonicalJson, canonicalText } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { businessObjectRow, businessObjectRowText, businessObjectText } from './businessObject.js'
import { commandRow, commandRowText, commandText } from './command.js'
import { executionRow, executionRowText } from './execution.js'
import type { FoldRules } from './foldRules.js'
import type { FoldState } from './foldState.js'
import { frameRow, frameRowText, frameText } from './frame.js'
import { HashSink } from './hashSink.js'
import { loopRow, loopText } from './loop.js'
import { MAP_SURFACES, type MapSurface, type ProjectionChecksums } from './profile.js'
import { sortById, sortByText, sortIfNeeded } from './rowOrder.js'
import { stageRow, stageText } from './stage.js'

type Entry<T> = readonly [key: string, entity: T]

/** SHA-256 of the canonical text of the state, with only the shown maps filled. */
export function stateChecksum(state: FoldState, shown: ReadonlySet<MapSurface>): string {
  const sink = new HashSink()
  writeStateText(state, shown, sink)
  return sink.digest()
}

/** The canonical text itself; for tests and for looking at differences. */
export function stateText(state: FoldState, shown: ReadonlySet<MapSurface>): string {
  let text = ''
  writeStateText(state, shown, { write: (piece) => (text += piece) })
  return text
}

interface TextSink {
  write(text: string): void
}

function writeStateText(state: FoldState, shown: ReadonlySet<MapSurface>, sink: TextSink): void {
  const keys = [...Object.keys(state.head), ...MAP_SURFACES].sort(compareCodePoints)
  let separator = '{'
  for (const key of keys) {
    sink.write(`${separator}${canonicalText(key)}:`)
    separator = ','
    if (!isMapSurface(key)) writeHeadValue(key, state.head[key]!, sink)
    else if (shown.has(key)) writeMap(state, key, sink)
    else sink.write('{}')
  }
  sink.write('}')
}

function isMapSurface(key: string): key is MapSurface {
  return (MAP_SURFACES as readonly string[]).includes(key)
}

function writeHeadValue(key: string, value: JsonValue, sink: TextSink): void {
  if (key !== 'execution' || !isJsonObject(value)) {
    sink.write(canonicalJson(value))
    return
  }
  // One reference per event: by far the longest list, and the keys of its owner are known.
  let separator = '{'
  for (const name of Object.keys(value).sort(compareCodePoints)) {
    sink.write(`${separator}${canonicalText(name)}:`)
    separator = ','
    const field = value[name]!
    if (Array.isArray(field)) writeList(field, sink)
    else sink.write(canonicalJson(field))
  }
  sink.write(separator === '{' ? '{}' : '}')
}

function writeList(list: readonly JsonValue[], sink: TextSink): void {
  sink.write('[')
  for (let index = 0; index < list.length; index++) {
    sink.write(index === 0 ? canonicalJson(list[index]!) : `,${canonicalJson(list[index]!)}`)
  }
  sink.write(']')
}

function writeMap(state: FoldState, surface: MapSurface, sink: TextSink): void {
  const { maps, irregular } = state
  if (surface === 'stages') writeEntries(maps.stages, stageText, irregular, sink)
  else if (surface === 'frames') writeEntries(maps.frames, frameText, irregular, sink)
  else if (surface === 'commands') writeEntries(maps.commands, commandText, irregular, sink)
  else if (surface === 'business_objects') writeEntries(maps.business_objects, businessObjectText, irregular, sink)
  else writeEntries(maps.loops, loopText, irregular, sink)
}

function writeEntries<T extends JsonObject>(
  map: ReadonlyMap<string, T>,
  textOf: (entity: T) => string,
  irregular: ReadonlySet<JsonObject>,
  sink: TextSink,
): void {
  const entries = sortIfNeeded(Array.from(map), (left: Entry<T>, right: Entry<T>) =>
    compareCodePoints(left[0], right[0]),
  )
  let separator = ''
  sink.write('{')
  for (const [key, entity] of entries) {
    const text = irregular.size > 0 && irregular.has(entity) ? canonicalJson(entity) : textOf(entity)
    sink.write(`${separator}${canonicalText(key)}:${text}`)
    separator = ','
  }
  sink.write('}')
}

export function projectionChecksums(state: FoldState, rules: FoldRules): ProjectionChecksums {
  const { maps, head } = state
  rules.eventId = null
  const byId = <T>(map: ReadonlyMap<string, T>) => sortById(Array.from(map), keyOf, rules.profile)
  const byText = <T>(map: ReadonlyMap<string, T>) => sortByText(Array.from(map), keyOf)
  return {
    execution: hashRows('executions', [head], (item) => executionRowText(executionRow(item, rules))),
    stages: hashRows('stages', byId(maps.stages), ([key, item]) => stageText(stageRow(item, key, rules))),
    frames: hashRows('frames', byId(maps.frames), ([key, item]) => frameRowText(frameRow(item, key, rules))),
    commands: hashRows('commands', byId(maps.commands), ([key, item]) => commandRowText(commandRow(item, key, rules))),
    business_objects: hashRows('business_objects', byText(maps.business_objects), ([key, item]) =>
      businessObjectRowText(businessObjectRow(item, key, rules)),
    ),
    loops: hashRows('loops', byText(maps.loops), ([key, item]) => loopText(loopRow(item, key, rules))),
  }
}

function keyOf<T>(entry: Entry<T>): string {
  return entry[0]
}

export function hashRows<T>(wrap: string, items: readonly T[], textOf: (item: T) => string): string {
  const sink = new HashSink()
  sink.write(`{"${wrap}":[`)
  for (let index = 0; index < items.length; index++) {
    sink.write(index === 0 ? textOf(items[index]!) : `,${textOf(items[index]!)}`)
  }
  sink.write(']}')
  return sink.digest()
}
