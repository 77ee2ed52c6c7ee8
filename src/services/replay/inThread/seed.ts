// Finds the snapshot a replay may start from, and makes it prove itself: readable, of this fold, of this
// execution, unchanged, and of a log that has not got other events below it since. Whatever is wrong with a
// seed costs a full replay, never an error.
import { gunzipSync } from 'node:zlib'
import { toPostgresTimestamp } from '../../../domain/events/wireTime.js'
import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { integerOf } from '../../../domain/replay/coerce.js'
import type { SnapshotSeed } from '../../../domain/replay/foldTypes.js'
import type { FoldProfile } from '../../../domain/replay/profile.js'
import type { ReplayQuery } from '../../../domain/replay/replayQuery.js'
import {
  type SeedProblem,
  seedAggregateId,
  seedAggregateType,
  seedProblem,
  seedState,
  snapshotSeedOf,
} from '../../../domain/replay/replaySeed.js'
import { checkSeed, lastEventBefore } from '../../../stores/replay/replayStore.js'
import { loadSeed, SEED_CODEC, type SeedRow } from '../../../stores/replay/seedStore.js'
import type { Snapshot } from './database.js'

export interface SeedUse {
  found: boolean
  problem: SeedProblem | null
  /** The last event of the seed that was used. */
  version: string | null
}

export interface UsableSeed {
  use: SeedUse
  state: JsonObject | null
  /** What a `python` document says about it. */
  said: SnapshotSeed | null
}

export const NO_SEED: UsableSeed = { use: { found: false, problem: null, version: null }, state: null, said: null }

const STATE_BYTES_MAX = 2 ** 30

export async function findSeed(
  snapshot: Snapshot,
  profile: FoldProfile,
  query: ReplayQuery,
  registryDigest: string,
): Promise<UsableSeed> {
  if (profile === 'server') return NO_SEED
  const versionMax = await seedVersionMax(snapshot, profile, query)
  if (versionMax === 'none') return NO_SEED
  const { tenantId, organizationId } = query
  const key = {
    tenantId,
    organizationId,
    aggregateType: seedAggregateType(profile),
    aggregateId: seedAggregateId(profile, query),
    versionMax,
  }
  const stored = await loadSeed(snapshot.connection, key, snapshot.leftMs())
  if (stored === undefined) return NO_SEED
  const row = readRow(stored)
  const problem =
    row === null
      ? 'unreadable'
      : (seedProblem(profile, row, query, registryDigest) ?? (await logProblem(snapshot, profile, query, row)))
  if (problem !== null || row === null) {
    return { use: { found: true, problem, version: null }, state: null, said: null }
  }
  return {
    use: { found: true, problem: null, version: stored.version },
    state: seedState(row),
    said: profile === 'python' ? snapshotSeedOf(row) : null,
  }
}

/** Times and versions need not grow with the ids, so a seed could contain events beyond such a cutoff. */
async function seedVersionMax(
  snapshot: Snapshot,
  profile: FoldProfile,
  query: ReplayQuery,
): Promise<string | null | 'none'> {
  const { cutoff } = query
  if (cutoff === null) return null
  if (cutoff.kind === 'event_id') return String(cutoff.eventId)
  if (cutoff.kind === 'version' || profile === 'cp') return 'none'
  const key = {
    executionId: String(query.executionId),
    tenantId: query.tenantId,
    organizationId: query.organizationId,
  }
  const last = await lastEventBefore(snapshot.connection, key, toPostgresTimestamp(cutoff.time), snapshot.leftMs())
  return last ?? 'none'
}

function readRow(stored: SeedRow): JsonObject | null {
  const { snapshot_bytes: bytes, snapshot_codec: codec, snapshot, ...rest } = stored
  const row: JsonObject = { ...rest, version: integerOf(rest.version)! }
  if (bytes === null) return { ...row, snapshot }
  if (codec !== SEED_CODEC) return null
  try {
    const text = gunzipSync(bytes, { maxOutputLength: STATE_BYTES_MAX }).toString('utf8')
    return { ...row, snapshot: parseJson(text) }
  } catch {
    return null
  }
}

// A `python` seed was never held against the log; its states repeat that.
async function logProblem(
  snapshot: Snapshot,
  profile: FoldProfile,
  query: ReplayQuery,
  row: JsonObject,
): Promise<SeedProblem | null> {
  if (profile === 'python') return null
  if (row['checksum'] !== seedState(row)['checksum']) return 'checksum'
  const meta = isJsonObject(row['meta']) ? row['meta'] : {}
  const streamVersion = integerOf(meta['stream_version'])
  // Nobody knows then which events were there when it was made.
  if (streamVersion === undefined) return 'straggler'
  const { hasLast, straggler } = await checkSeed(
    snapshot.connection,
    {
      executionId: String(query.executionId),
      lastEventId: String(row['version']),
      streamVersion: String(streamVersion),
    },
    snapshot.leftMs(),
  )
  if (!hasLast) return 'future'
  return straggler === null ? null : 'straggler'
}
