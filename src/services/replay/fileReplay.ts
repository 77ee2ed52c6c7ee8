// Replay of events that are already in memory, without any server: the log of a file. The same selection and the
// same fold as from the database, so an exported log gives the same document.
import type { JsonObject } from '../../domain/json/value.js'
import { answerBytes, warningsOf } from '../../domain/replay/answer.js'
import { textOrNull } from '../../domain/replay/coerce.js'
import { inIdOrder } from '../../domain/replay/eventIntake.js'
import { type FoldResult, foldEvents } from '../../domain/replay/fold.js'
import type { FoldProfile } from '../../domain/replay/profile.js'
import { REGISTRY_DIGEST, UPCASTERS } from '../../domain/replay/registry.js'
import type { ReplayQuery } from '../../domain/replay/replayQuery.js'
import { selectReplayInput } from '../../domain/replay/selectReplayInput.js'
import { Timeline, type TimelineReport } from '../../domain/replay/timeline.js'
import { CpError } from '../../errors.js'

export interface FileReplay {
  result: FoldResult
  truncated: boolean
  nextEventId: string | null
  eventsRead: number
  /** The JSON of the answer. */
  document(): Uint8Array
  warnings: JsonObject[]
  timeline(): TimelineReport
}

export function replayEvents(profile: FoldProfile, query: ReplayQuery, events: readonly JsonObject[]): FileReplay {
  const owned = events.map((event) => withOwner(event, query))
  if (query.cutoff?.kind === 'version' && !owned.some((event) => event['stream_version'] !== undefined)) {
    throw new CpError('invalid_input', 'the events carry no stream_version, so there is no version to stop at')
  }
  const selected = selectReplayInput(profile, owned, [], query, REGISTRY_DIGEST)
  const rows = profile === 'python' ? selected.events.map((event) => UPCASTERS.upcast(event)) : selected.events
  const result = foldEvents(
    {
      profile,
      tenantId: query.tenantId,
      organizationId: query.organizationId,
      executionId: query.executionId,
      projection: query.projection,
      upcasterRegistryDigest: REGISTRY_DIGEST,
    },
    rows,
  )
  const nextEventId = textOrNull(selected.nextEventId)
  const truncation = { truncated: selected.truncated, nextEventId }
  const { ids, resolvePayloads } = query
  return {
    result,
    ...truncation,
    eventsRead: rows.length,
    document: () =>
      answerBytes(result, truncation, { profile, remarks: 'whenNeeded', ids, redact: false, resolvePayloads }).bytes,
    warnings: warningsOf(result),
    timeline: () => {
      const timeline = new Timeline()
      for (const row of inIdOrder(rows)) timeline.add(row, row['created_at'] ?? row['event_time'])
      return timeline.report()
    },
  }
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
