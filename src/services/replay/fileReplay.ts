// Replay of the log of a file, without any server. The same selection and the same fold as from the database, so an
// exported log gives the same document. Events in id order, as exports have them, are folded one by one and forgotten;
// the fold needs that order, so a log in any other order has to be in memory as a whole to be sorted.
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { answerBytes, type Extent, warningsOf } from '../../domain/replay/answer.js'
import { compareIntegers, type Integer, textOrNull } from '../../domain/replay/coerce.js'
import { eventIdOf, inIdOrder } from '../../domain/replay/eventIntake.js'
import { createFold, foldEvents } from '../../domain/replay/fold.js'
import type { FoldOptions, FoldResult } from '../../domain/replay/foldTypes.js'
import type { FoldProfile } from '../../domain/replay/profile.js'
import type { ReplayQuery } from '../../domain/replay/replayQuery.js'
import { labelSchema, REGISTRY_DIGEST } from '../../domain/replay/schemaLabel.js'
import { isSelected, selectColumns, selectReplayInput } from '../../domain/replay/selectReplayInput.js'
import { Timeline, type TimelineReport } from '../../domain/replay/timeline.js'
import { CpError } from '../../errors.js'

export interface FileReplay extends Extent {
  result: FoldResult
  eventsRead: number
  /** The JSON of the answer. */
  document(): Uint8Array
  warnings: JsonObject[]
  timeline(): TimelineReport
}

export function replayEvents(profile: FoldProfile, query: ReplayQuery, events: readonly JsonObject[]): FileReplay {
  const owned = events.map((event) => withOwner(event, query))
  if (query.cutoff?.kind === 'version' && !owned.some((event) => event['stream_version'] !== undefined)) {
    throw noVersions()
  }
  const selected = selectReplayInput(profile, owned, [], query, REGISTRY_DIGEST)
  const rows = profile === 'python' ? selected.events.map((event) => labelSchema(event)) : selected.events
  const result = foldEvents(foldOptions(profile, query), rows)
  const extent = { truncated: selected.truncated, nextEventId: textOrNull(selected.nextEventId), mayChange: false }
  return toReplay(profile, query, result, extent, rows.length, () => {
    const timeline = new Timeline()
    for (const row of inIdOrder(rows)) timeline.add(row, timeOf(row))
    return timeline
  })
}

export interface StreamedReplay {
  /** False: this event does not come in the order of ids, and nothing that was added so far counts. */
  add(event: JsonObject): boolean
  finish(): FileReplay
}

/** The same answer for events that come one by one. */
export function createStreamedReplay(profile: FoldProfile, query: ReplayQuery): StreamedReplay {
  const fold = createFold(foldOptions(profile, query))
  const timeline = new Timeline()
  let last: Integer = Number.NEGATIVE_INFINITY
  let hasVersion = false
  let count = 0
  let nextEventId: Integer | null = null
  return {
    add: (event) => {
      const row = withOwner(event, query)
      hasVersion ||= row['stream_version'] !== undefined
      if (!isSelected(profile, row, query)) return true
      const id = eventIdOf(row) ?? 0
      if (compareIntegers(id, last) < 0) return false
      last = id
      // Beyond the limit the rest is still looked at: one with a lower id would belong before it.
      if (count >= query.limit) {
        nextEventId ??= id
        return true
      }
      count++
      const selected = selectColumns(profile, row)
      const upcast = profile === 'python' ? labelSchema(selected) : selected
      timeline.add(upcast, timeOf(upcast))
      fold.add(upcast)
      return true
    },
    finish: () => {
      if (query.cutoff?.kind === 'version' && !hasVersion) throw noVersions()
      const extent = { truncated: nextEventId !== null, nextEventId: textOrNull(nextEventId), mayChange: false }
      return toReplay(profile, query, fold.finish(), extent, count, () => timeline)
    },
  }
}

function foldOptions(profile: FoldProfile, query: ReplayQuery): FoldOptions {
  const { tenantId, organizationId, executionId, projection } = query
  return { profile, tenantId, organizationId, executionId, projection, upcasterRegistryDigest: REGISTRY_DIGEST }
}

function toReplay(
  profile: FoldProfile,
  query: ReplayQuery,
  result: FoldResult,
  extent: Extent,
  eventsRead: number,
  timeline: () => Timeline,
): FileReplay {
  const { ids } = query
  return {
    result,
    ...extent,
    eventsRead,
    document: () => answerBytes(result, extent, { profile, remarks: 'whenNeeded', ids, secretNames: [] }).bytes,
    warnings: warningsOf(result),
    timeline: () => timeline().report(),
  }
}

function timeOf(row: JsonObject): JsonValue | undefined {
  return row['created_at'] ?? row['event_time']
}

function noVersions(): CpError {
  return new CpError('invalid_input', 'the events carry no stream_version, so there is no version to stop at')
}

/** Logs of one execution often leave out whose they are, and exports call the time `timestamp`. */
function withOwner(event: JsonObject, query: ReplayQuery): JsonObject {
  const copy: JsonObject = { ...event }
  if (isAbsent(event['execution_id'])) copy['execution_id'] = query.executionId
  if (isAbsent(event['tenant_id'])) copy['tenant_id'] = query.tenantId
  if (isAbsent(event['organization_id'])) copy['organization_id'] = query.organizationId
  if (isAbsent(event['created_at']) && event['timestamp'] !== undefined) copy['created_at'] = event['timestamp']
  return copy
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** Whose log the events are, as far as they agree about it. */
export function ownerOfEvents(events: readonly JsonObject[]): {
  executionIds: string[]
  tenantId: string
  organizationId: string
} {
  return {
    executionIds: Array.from(namesIn(events, 'execution_id')),
    tenantId: onlyOne(namesIn(events, 'tenant_id')),
    organizationId: onlyOne(namesIn(events, 'organization_id')),
  }
}

function namesIn(events: readonly JsonObject[], key: string): Set<string> {
  const found = new Set<string>()
  for (const event of events) {
    const text = textOrNull(event[key])
    if (text !== null) found.add(text)
  }
  return found
}

function onlyOne(names: ReadonlySet<string>): string {
  const [first] = names
  return names.size === 1 && first !== undefined ? first : 'default'
}

/** Whether an event may belong to another log than the first one of its file, as far as that was not given. */
export function isOfAnotherOwner(event: JsonObject, first: JsonObject, given: ReadonlySet<string>): boolean {
  return OWNER_KEYS.some((key) => {
    const told = given.has(key) ? null : textOrNull(event[key])
    return told !== null && told !== textOrNull(first[key])
  })
}

const OWNER_KEYS = ['execution_id', 'tenant_id', 'organization_id']
