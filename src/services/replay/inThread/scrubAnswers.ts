// What is said about a position of a log: slices of the state, never the whole document.
import { wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import { floatValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import { idsAsText, withoutSecrets } from '../../../domain/replay/answer.js'
import { contentDifferences } from '../../../domain/replay/diff.js'
import { LogState, type Touched } from '../../../domain/replay/keyframes/logState.js'
import type { MapSurface } from '../../../domain/replay/profile.js'
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
  const show = (slice: JsonObject) => idsAsText(secretNames === null ? slice : withoutSecrets(slice, secretNames))
  const differing = other === undefined ? {} : differencesSince(other, state, show)
  return Buffer.from(writeJson({ ...show(shown), ...differing }))
}

/** What replay would tell of the two documents, of which only what the two positions do not share is looked at. */
function differencesSince(earlier: LogState, state: LogState, show: (slice: JsonObject) => JsonObject): JsonObject {
  const [from, to] = LogState.apart(earlier, state).map(show) as [JsonObject, JsonObject]
  const differences = contentDifferences(from, to)
  return {
    since: earlier.position,
    differences_count: differences.length,
    differences: differences.slice(0, DIFFERENCES_MAX) as unknown as JsonValue,
  }
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
