// What is said about a position of a log: slices of the state, never the whole document.
import { wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import { floatValue, isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { idsAsText, stateRules } from '../../../domain/replay/answer.js'
import { contentDifferences, type Difference, keysOfBoth, ownValue } from '../../../domain/replay/diff.js'
import { LogState, type Touched } from '../../../domain/replay/keyframes/logState.js'
import { MAP_SURFACES, type MapSurface } from '../../../domain/replay/profile.js'
import { redact } from '../../../domain/secrets/redact.js'
import { CpError } from '../../../errors.js'
import type { Reached, ScrubbedLog } from './scrubbedLog.js'

/** Where to look; everything ends up as a place. */
export type ScrubPlace = { by: 'position' | 'event' | 'version' | 'time'; value: string } | { by: 'end' }

export interface ScrubParts {
  head: boolean
  counts: boolean
  touched: boolean
  entities: { surface: MapSurface; key: string }[]
  pages: { surface: MapSurface; from: number; count: number }[]
  /** What is different from the state at this position. */
  since?: number | undefined
}

const TOUCHED_MAX = 200
const DIFFERENCES_MAX = 1_000

/** `timeMs` for times, which only the caller can read. */
export function positionOf(log: ScrubbedLog, place: ScrubPlace, timeMs: number): number {
  const { tape, ids } = log
  if (place.by === 'end') return ids.length
  if (place.by === 'event') return ids.upTo(BigInt(place.value))
  if (place.by === 'time') {
    let position = ids.length
    while (position > 0 && tape.times.get(position - 1) > timeMs) position--
    return position
  }
  const wanted = Number(place.value)
  if (place.by === 'position') {
    if (wanted <= ids.length) return wanted
    throw new CpError(
      'invalid_input',
      `position ${wanted} is beyond the ${ids.length} events of execution ${log.executionId}`,
    )
  }
  for (let position = ids.length; position > 0; position--) {
    if (tape.events.version.get(position - 1) === wanted) return position
  }
  throw new CpError('not_found', `execution ${log.executionId} has no event of version ${wanted}`)
}

export function shownAt(
  log: ScrubbedLog,
  { state, touched, keyframe, folded, other }: Reached,
  parts: ScrubParts,
  ms: number,
  secretNames: readonly string[] | null,
  /** Asked now and then by what may take long; throws when nobody waits any more. */
  goOn: () => void,
): Uint8Array {
  const { position } = state
  const shown: JsonObject = {
    execution_id: log.executionId,
    position,
    total: log.total,
    epoch: log.epoch,
    ...(position === 0 ? { event: null, version: null, time: null } : eventAt(log, position)),
    ...slices(state, touched, parts),
    cost: { keyframe, folded, ms: floatValue(ms), distance: log.distance },
  }
  const rules = secretNames === null ? null : stateRules(secretNames)
  const show = (slice: JsonObject) => idsAsText(rules === null ? slice : redact(slice, rules))
  const differing = other === undefined ? {} : differencesSince(other, state, show, goOn)
  return Buffer.from(writeJson({ ...show(shown), ...differing }))
}

/**
 * What replay would tell of the two documents, of which only what the two positions do not share is looked at, entity by
 * entity. One that is at one of them alone is a single difference, whatever it holds: of the many of a long way only those that
 * are shown are looked into. `onEntity` may throw to give up.
 */
function differencesSince(
  earlier: LogState,
  state: LogState,
  show: (slice: JsonObject) => JsonObject,
  onEntity: () => void,
): JsonObject {
  const [from, to] = LogState.apart(earlier, state)
  const shown: Difference[] = []
  let count = 0
  for (const { before, after, isOneSided } of inPieces(from, to)) {
    onEntity()
    if (isOneSided && shown.length === DIFFERENCES_MAX) count++
    else {
      const found = contentDifferences(show(before), show(after))
      count += found.length
      shown.push(...found.slice(0, DIFFERENCES_MAX - shown.length))
    }
  }
  return { since: earlier.position, differences_count: count, differences: shown as unknown as JsonValue }
}

interface Piece {
  before: JsonObject
  after: JsonObject
  isOneSided: boolean
}

/** Two documents in the order in which differences are told, the maps of entities one by one. */
function* inPieces(from: JsonObject, to: JsonObject): Generator<Piece> {
  for (const name of keysOfBoth(from, to)) {
    const [before, after] = [ownValue(from, name), ownValue(to, name)]
    if (!isSurface(name) || !isJsonObject(before) || !isJsonObject(after)) {
      yield { before: only(name, before), after: only(name, after), isOneSided: false }
      continue
    }
    for (const key of keysOfBoth(before, after)) {
      const [one, other] = [ownValue(before, key), ownValue(after, key)]
      const isOneSided = one === undefined || other === undefined
      yield { before: { [name]: only(key, one) }, after: { [name]: only(key, other) }, isOneSided }
    }
  }
}

function isSurface(name: string): boolean {
  return (MAP_SURFACES as readonly string[]).includes(name)
}

function only(key: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value }
}

function eventAt({ tape, ids }: ScrubbedLog, position: number): JsonObject {
  const { events, types, steps, statuses, workers } = tape
  const name = (list: readonly string[], number: number): string | null => (number === 0 ? null : list[number]!)
  const version = events.version.get(position - 1)
  return {
    event: {
      event_id: String(ids.at(position)),
      event_type: name(types.names, events.type.get(position - 1)),
      node_name: name(steps.names, events.step.get(position - 1)),
      status: name(statuses.names, events.status.get(position - 1)),
      worker_id: name(workers.names, events.worker.get(position - 1)),
    },
    version: version === 0 ? null : String(version),
    time: wireTimeFromMillis(tape.times.get(position - 1)),
  }
}

function slices(state: LogState, touched: readonly Touched[], parts: ScrubParts): JsonObject {
  const shown: JsonObject = {}
  if (parts.head) shown['head'] = state.shownHead()
  if (parts.counts) shown['counts'] = state.shownCounts() as unknown as JsonObject
  if (parts.touched) {
    shown['touched_count'] = touched.length
    shown['touched'] = touched
      .slice(0, TOUCHED_MAX)
      .map(({ surface, key, before, after }) => ({ surface, key, before: before ?? null, after }))
  }
  if (parts.entities.length > 0) {
    shown['entities'] = parts.entities.map(({ surface, key }) => ({
      surface,
      key,
      value: state.entity(surface, key) ?? null,
    }))
  }
  if (parts.pages.length > 0) {
    shown['pages'] = parts.pages.map(({ surface, from, count }) => {
      const { total, entries } = state.page(surface, from, count)
      return { surface, from, total, entries: entries.map(([key, value]): JsonValue => ({ key, value })) }
    })
  }
  return shown
}
