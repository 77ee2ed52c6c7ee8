// What a replay reads: the rows of one execution up to the cutoff, after the seed if one may be used.
// This is the reader's rule written as a function over rows; the SQL of the event store must select the
// same. Rows of other tenants, organisations or executions are never let through.

import { parseWireTime, type WireTime } from '../events/wireTime.js'
import type { JsonObject } from '../json/value.js'
import { compareIntegers, type Integer, integerOf, textOrNull } from './coerce.js'
import type { ReplayCutoff } from './cutoff.js'
import { eventIdOf, inIdOrder } from './eventIntake.js'
import type { SnapshotSeed } from './foldTypes.js'
import type { FoldProfile } from './profile.js'
import type { ReplayQuery } from './replayQuery.js'
import { seedAggregateId, seedAggregateType, seedRefusal, seedState, snapshotSeedOf } from './replaySeed.js'

export interface ReplayInput {
  /** In id order. */
  events: JsonObject[]
  baseState: JsonObject | null
  /** Only in `python`: a `cp` document does not say where the fold started. */
  snapshotSeed: SnapshotSeed | null
  seedRowFound: boolean
  seedRefusal: string | null
  afterEventId: Integer | null
  /** The limit left events out; the first of them is nextEventId. */
  truncated: boolean
  nextEventId: Integer | null
}

export function selectReplayInput(
  profile: FoldProfile,
  rows: readonly JsonObject[],
  snapshots: readonly JsonObject[],
  query: ReplayQuery,
  registryDigest: string,
): ReplayInput {
  const own = inIdOrder(rows.filter((row) => isSelected(profile, row, query)))
  const seedRow = findSeed(profile, own, snapshots, query)
  const refusal = seedRow === null ? null : seedRefusal(profile, seedRow, query, registryDigest)
  const isSeeded = seedRow !== null && refusal === null
  const afterEventId = isSeeded ? (integerOf(seedRow['version']) ?? null) : null
  const tail = afterEventId === null ? own : own.filter((row) => compareIntegers(idOf(row), afterEventId) > 0)
  const next = tail[query.limit]
  return {
    events: tail.slice(0, query.limit).map((row) => selectColumns(profile, row)),
    baseState: isSeeded ? seedState(seedRow) : null,
    snapshotSeed: isSeeded && profile === 'python' ? snapshotSeedOf(seedRow) : null,
    seedRowFound: seedRow !== null,
    seedRefusal: refusal,
    afterEventId,
    truncated: next !== undefined,
    nextEventId: next === undefined ? null : idOf(next),
  }
}

/** Does the replay read this row, if nothing but the limit is left to decide? */
export function isSelected(profile: FoldProfile, row: JsonObject, query: ReplayQuery): boolean {
  return isOwn(profile, row, query) && isWithin(profile, row, query.cutoff)
}

/** The Rust server folds the rows of every tenant, and says back what it was asked for. */
function isOwn(profile: FoldProfile, row: JsonObject, query: ReplayQuery): boolean {
  return (
    (profile === 'server' || isOfTenant(row, query)) && textOrNull(row['execution_id']) === String(query.executionId)
  )
}

function isOfTenant(row: JsonObject, query: ReplayQuery): boolean {
  return (
    (row['tenant_id'] ?? 'default') === query.tenantId && (row['organization_id'] ?? 'default') === query.organizationId
  )
}

function idOf(row: JsonObject): Integer {
  return eventIdOf(row) ?? 0
}

function isWithin(profile: FoldProfile, row: JsonObject, cutoff: ReplayCutoff | null): boolean {
  if (cutoff === null) return true
  if (cutoff.kind === 'event_id') return compareIntegers(idOf(row), cutoff.eventId) <= 0
  if (cutoff.kind === 'version') {
    const version = integerOf(row['stream_version'])
    return version !== undefined && compareIntegers(version, cutoff.version) <= 0
  }
  const time = timeOf(profile, row)
  return time !== undefined && time <= cutoff.time
}

const TIMES: Readonly<Record<FoldProfile, readonly string[]>> = {
  cp: ['ingest_time', 'created_at', 'event_time'],
  python: ['event_time', 'created_at'],
  server: ['created_at', 'event_time'],
}

// `python` and `server` go by when an event happened as its sender says, `cp` by when it came into the log, which nobody can date
// back. Logs from elsewhere may not know that; then the event's own time stands for it.
function timeOf(profile: FoldProfile, row: JsonObject): WireTime | undefined {
  const names = TIMES[profile]
  const name = names.find((one) => (row[one] ?? null) !== null) ?? names[0]!
  return parseWireTime(row[name], name)
}

function findSeed(
  profile: FoldProfile,
  own: readonly JsonObject[],
  snapshots: readonly JsonObject[],
  query: ReplayQuery,
): JsonObject | null {
  const versionMax = seedVersionMax(profile, own, query.cutoff)
  if (versionMax === 'none' || profile === 'server') return null
  const aggregateType = seedAggregateType(profile)
  const aggregateId = seedAggregateId(profile, query)
  let best: { row: JsonObject; version: Integer } | null = null
  for (const row of snapshots) {
    const version = integerOf(row['version'])
    if (version === undefined || !isOfTenant(row, query)) continue
    if (row['aggregate_type'] !== aggregateType || row['aggregate_id'] !== aggregateId) continue
    if (versionMax !== 'any' && compareIntegers(version, versionMax) > 0) continue
    if (best === null || compareIntegers(version, best.version) > 0) best = { row, version }
  }
  return best === null ? null : best.row
}

function seedVersionMax(
  profile: FoldProfile,
  own: readonly JsonObject[],
  cutoff: ReplayCutoff | null,
): Integer | 'any' | 'none' {
  if (cutoff === null) return 'any'
  if (cutoff.kind === 'event_id') return cutoff.eventId
  // Times and versions need not grow with the ids: a seed could contain events beyond the cutoff.
  const last = own.at(-1)
  return profile === 'cp' || cutoff.kind === 'version' || last === undefined ? 'none' : idOf(last)
}

// The older reader did not load the worker column, and its checksums show it.
export function selectColumns(profile: FoldProfile, row: JsonObject): JsonObject {
  if (profile !== 'python' || !Object.hasOwn(row, 'worker_id')) return row
  const { worker_id: _worker, ...selected } = row
  return selected
}
