// Which stored snapshot a replay may continue from. A `python` seed needs only the right upcaster digest,
// as it always did. A `cp` seed must prove itself: same execution, same profile, complete, ending at the
// version it claims, and with checksums that still hold. A refused seed costs time, never correctness.

import { isJsonObject, type JsonObject } from '../json/value.js'
import { compareIntegers, integerOf, textOrNull } from './coerce.js'
import type { SnapshotSeed } from './foldTypes.js'
import { CP_PROFILE_MARK, type FoldProfile } from './profile.js'
import type { ReplayQuery } from './replayQuery.js'
import { verifyState } from './verifyState.js'

/** Ours lie beside those of the NoETL server, which we read and never write. */
export const SEED_AGGREGATE_TYPE = 'cp_replay_state'

export function seedAggregateType(profile: FoldProfile): string {
  return profile === 'cp' ? SEED_AGGREGATE_TYPE : 'replay_state'
}

/** In `cp` one complete state serves every projection. */
export function seedAggregateId(profile: FoldProfile, query: Pick<ReplayQuery, 'executionId' | 'projection'>): string {
  return `execution/${query.executionId}/${profile === 'cp' ? 'all' : query.projection}`
}

export const SEED_PROBLEMS = {
  registry: 'it was made with other upcasters',
  profile: 'it was made with another fold profile',
  projection: 'it does not hold every map',
  execution: 'it belongs to another execution',
  version: 'its version is not that of its last event',
  checksum: 'its checksums do not match its content',
  unreadable: 'it cannot be read',
  future: 'it ends at an event that the log does not have',
  straggler: 'an event that it should contain came later',
} as const

export type SeedProblem = keyof typeof SEED_PROBLEMS

/** Why the snapshot cannot be continued; null when it can. */
export function seedRefusal(
  profile: FoldProfile,
  row: JsonObject,
  query: Pick<ReplayQuery, 'executionId'>,
  registryDigest: string,
): string | null {
  const problem = seedProblem(profile, row, query, registryDigest)
  return problem === null ? null : SEED_PROBLEMS[problem]
}

export function seedProblem(
  profile: FoldProfile,
  row: JsonObject,
  query: Pick<ReplayQuery, 'executionId'>,
  registryDigest: string,
): SeedProblem | null {
  const state = seedState(row)
  const meta = isJsonObject(row['meta']) ? row['meta'] : {}
  const digest = textOrNull(state['upcaster_registry_digest'] ?? meta['upcaster_registry_digest'])
  if (digest !== registryDigest) return 'registry'
  if (profile === 'python') return null
  if (state['fold_profile'] !== CP_PROFILE_MARK) return 'profile'
  if (state['projection'] !== 'all') return 'projection'
  if (textOrNull(state['execution_id']) !== String(query.executionId)) return 'execution'
  const [last, version] = [integerOf(state['last_event_id']), integerOf(row['version'])]
  if (last === undefined || version === undefined || compareIntegers(last, version) !== 0) {
    return 'version'
  }
  return verifyState(state).matched ? null : 'checksum'
}

/** The state in a snapshot row; anything but an object counts as empty. */
export function seedState(row: JsonObject): JsonObject {
  return isJsonObject(row['snapshot']) ? row['snapshot'] : {}
}

/** What a `python` document says about its seed, inside the hash. */
export function snapshotSeedOf(row: JsonObject): SnapshotSeed {
  return {
    aggregate_id: row['aggregate_id'] ?? null,
    aggregate_type: row['aggregate_type'] ?? null,
    version: row['version'] ?? null,
    checksum: row['checksum'] ?? null,
    meta: row['meta'] ?? null,
  }
}
