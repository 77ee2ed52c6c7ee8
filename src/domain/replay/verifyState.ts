// Does a stored state document still have the checksums it was given? Stored means: written out, perhaps
// rewritten by a database that reorders keys, and read back without loss. Used before a snapshot is
// continued and by the verify command; a document that fails is never continued.

import { canonicalChecksum } from '../json/canonical.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { FoldRules } from './foldRules.js'
import { FoldState } from './foldState.js'
import { CP_PROFILE_MARK, type FoldProfile, isShown, MAP_SURFACES, SURFACES } from './profile.js'
import { type StateChecksums, stateChecksums } from './stateChecksum.js'
import { documentSurfaceRows, surfaceChecksums } from './surfaceRows.js'
import { FoldWarnings } from './warnings.js'

export interface ChecksumMismatch {
  /** `checksum`, or `projection_checksums/<surface>`. */
  place: string
  stored: string | null
  computed: string
}

export interface StateVerification {
  matched: boolean
  profile: FoldProfile
  mismatches: ChecksumMismatch[]
  /** Surfaces whose rows are not in this document, because it shows one projection only. */
  unverifiable: string[]
}

const NOT_HASHED = new Set([
  ...['checksum', 'checksum_algorithm', 'projection_checksums'],
  ...['payload_resolution', 'payload_resolution_summary'],
  // Remarks about the answer, not about the execution.
  ...['truncated', 'next_event_id', 'warnings'],
])

export function verifyState(state: JsonObject): StateVerification {
  const profile: FoldProfile = state['fold_profile'] === CP_PROFILE_MARK ? 'cp' : 'python'
  const projection = typeof state['projection'] === 'string' ? state['projection'] : 'all'
  const mismatches: ChecksumMismatch[] = []
  const unverifiable: string[] = []
  const { checksum, projections } = checksumsOf(state, profile)
  compare('checksum', state['checksum'], checksum, mismatches)
  const stored = isJsonObject(state['projection_checksums']) ? state['projection_checksums'] : {}
  for (const surface of SURFACES) {
    const isHidden = MAP_SURFACES.some((map) => map === surface && !isShown(profile, projection, map))
    if (isHidden) unverifiable.push(surface)
    else compare(`projection_checksums/${surface}`, stored[surface], projections[surface], mismatches)
  }
  return { matched: mismatches.length === 0, profile, mismatches, unverifiable }
}

/** The checksum a document should carry: over everything but the checksums and the payload report. */
export function stateDocumentChecksum(state: JsonObject): string {
  return canonicalChecksum(hashedPart(state))
}

function hashedPart(state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !NOT_HASHED.has(key)))
}

// A document in the shape that the fold writes takes the fold's own way, which is several times faster.
function checksumsOf(state: JsonObject, profile: FoldProfile): StateChecksums {
  if (hasUsualShape(state)) {
    const rules = new FoldRules(profile, new FoldWarnings())
    return stateChecksums(FoldState.create({}, hashedPart(state)), new Set(MAP_SURFACES), rules)
  }
  return {
    checksum: stateDocumentChecksum(state),
    projections: surfaceChecksums(documentSurfaceRows(profile, state)),
  }
}

function hasUsualShape(state: JsonObject): boolean {
  const hasHead = ['event_count', 'last_event_id', 'last_event_type', 'execution'].every((key) =>
    Object.hasOwn(state, key),
  )
  return hasHead && state['event_count'] !== null && MAP_SURFACES.every((map) => isMapOfObjects(state[map]))
}

function isMapOfObjects(map: JsonValue | undefined): boolean {
  return isJsonObject(map) && Object.values(map).every((entity) => isJsonObject(entity))
}

function compare(place: string, stored: unknown, computed: string, mismatches: ChecksumMismatch[]): void {
  if (stored !== computed) mismatches.push({ place, stored: typeof stored === 'string' ? stored : null, computed })
}
