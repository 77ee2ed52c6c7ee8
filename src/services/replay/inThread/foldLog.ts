// Folds the log of one execution as it is read: each row goes straight from the wire into the fold and is
// forgotten. Knows cutoffs, limits and seeds; the rules of the fold are the domain's.

import { toPostgresTimestamp } from '../../../domain/events/wireTime.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { createFold } from '../../../domain/replay/fold.js'
import type { FoldResult } from '../../../domain/replay/foldTypes.js'
import type { FoldProfile } from '../../../domain/replay/profile.js'
import type { ReplayQuery } from '../../../domain/replay/replayQuery.js'
import { labelSchema, REGISTRY_DIGEST } from '../../../domain/replay/schemaLabel.js'
import { Timeline, type TimelineReport } from '../../../domain/replay/timeline.js'
import { createRowReader, eventIdOfRow } from '../../../stores/replay/replayRows.js'
import { type LogRange, readLog } from '../../../stores/replay/replayStore.js'
import type { Snapshot } from './database.js'
import { findSeed, NO_SEED, type SeedUse, type UsableSeed } from './seed.js'

export interface FoldRequest {
  profile: FoldProfile
  query: ReplayQuery
  fromSnapshot: boolean
  timeline?: boolean
  /** The document will be written out. */
  keepText?: boolean
  /** Events read so far, for whoever watches. */
  progress?: SharedArrayBuffer
}

export interface FoldedLog {
  result: FoldResult
  truncated: boolean
  nextEventId: string | null
  /** Events that came in by the time asked for may still become visible. */
  mayChange: boolean
  eventsRead: number
  seed: SeedUse
  timeline: TimelineReport | null
}

const PAGE_SIZE = 5_000
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

export async function foldLog(snapshot: Snapshot, request: FoldRequest): Promise<FoldedLog> {
  const { profile, query } = request
  const seed = request.fromSnapshot ? await findSeed(snapshot, profile, query, REGISTRY_DIGEST) : NO_SEED
  return foldFrom(snapshot, request, seed)
}

export async function foldFrom(snapshot: Snapshot, request: FoldRequest, seed: UsableSeed): Promise<FoldedLog> {
  const { profile, query } = request
  const fold = createFold({
    profile,
    tenantId: query.tenantId,
    organizationId: query.organizationId,
    executionId: query.executionId,
    projection: query.projection,
    upcasterRegistryDigest: REGISTRY_DIGEST,
    baseState: seed.state,
    snapshotSeed: seed.said,
    keepText: request.keepText ?? false,
  })
  const range = rangeOf(request, seed.use)
  const timeline = request.timeline === true ? new Timeline() : null
  const progress = request.progress === undefined ? null : new Int32Array(request.progress)
  const toEvent = createRowReader()
  let eventsRead = 0
  let nextEventId: string | null = null

  await readLog(snapshot.connection, range, {
    leftMs: snapshot.leftMs,
    onRow: (row) => {
      if (eventsRead >= query.limit) {
        nextEventId = eventIdOfRow(row)
        return false
      }
      eventsRead++
      const event = toEvent(row)
      if (timeline !== null) timeline.add(event, row.created_at)
      fold.add(eventFor(profile, event))
      return true
    },
    onPage: () => {
      if (progress !== null) Atomics.store(progress, 0, eventsRead)
    },
  })
  return {
    result: fold.finish(),
    truncated: nextEventId !== null,
    nextEventId,
    mayChange: mayChange(request, snapshot),
    eventsRead,
    seed: seed.use,
    timeline: timeline?.report() ?? null,
  }
}

function eventFor(profile: FoldProfile, event: JsonObject): JsonObject {
  if (profile === 'python') return labelSchema(event)
  if (profile === 'cp') return event
  // The server knows references by their place in the result.
  const { payload_ref: reference, ...rest } = event
  return { ...rest, result: { reference: reference ?? null } }
}

/** In profile `python` times are the clients' word, and may always change. */
function mayChange({ profile, query: { cutoff } }: FoldRequest, { openSince }: Snapshot): boolean {
  return profile === 'cp' && cutoff?.kind === 'time' && openSince !== null && cutoff.time >= openSince
}

function rangeOf(request: FoldRequest, seed: SeedUse): LogRange {
  const { profile, query } = request
  const { cutoff } = query
  return {
    executionId: String(query.executionId),
    tenantId: query.tenantId,
    organizationId: query.organizationId,
    columns: profile !== 'cp' ? profile : request.timeline === true ? 'timed' : 'cp',
    fromEventId: seed.version === null ? INT64_MIN : BigInt(seed.version) + 1n,
    toEventId: cutoff?.kind === 'event_id' ? BigInt(cutoff.eventId) : INT64_MAX,
    untilTime: cutoff?.kind === 'time' ? toPostgresTimestamp(cutoff.time) : null,
    untilVersion: cutoff?.kind === 'version' ? String(cutoff.version) : null,
    pageSize: Math.min(PAGE_SIZE, query.limit + 1),
  }
}
