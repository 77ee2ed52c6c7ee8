// Does a stored state document still have the checksums it was given? Stored means: written out, perhaps
// rewritten by a database that reorders keys, and read back without loss. Used before a snapshot is
// continued and by the verify command; a document that fails is never continued.

import { canonicalChecksum } from '../json/canonical.js'
import { isJsonObject, type JsonObject } from '../json/value.js'
import { CP_PROFILE_MARK, type FoldProfile, isShown, MAP_SURFACES, SURFACES } from './profile.js'
import { documentSurfaceRows, surfaceChecksums } from './surfaceRows.js'

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
])

export function verifyState(state: JsonObject): StateVerification {
  const profile: FoldProfile = state['fold_profile'] === CP_PROFILE_MARK ? 'cp' : 'python'
  const projection = typeof state['projection'] === 'string' ? state['projection'] : 'all'
  const mismatches: ChecksumMismatch[] = []
  const unverifiable: string[] = []
  compare('checksum', state['checksum'], stateDocumentChecksum(state), mismatches)
  const stored = isJsonObject(state['projection_checksums']) ? state['projection_checksums'] : {}
  const computed = surfaceChecksums(documentSurfaceRows(profile, state))
  for (const surface of SURFACES) {
    const isHidden = MAP_SURFACES.some((map) => map === surface && !isShown(profile, projection, map))
    if (isHidden) unverifiable.push(surface)
    else compare(`projection_checksums/${surface}`, stored[surface], computed[surface], mismatches)
  }
  return { matched: mismatches.length === 0, profile, mismatches, unverifiable }
}

/** The checksum a document should carry: over everything but the checksums and the payload report. */
export function stateDocumentChecksum(state: JsonObject): string {
  return canonicalChecksum(Object.fromEntries(Object.entries(state).filter(([key]) => !NOT_HASHED.has(key))))
}

function compare(place: string, stored: unknown, computed: string, mismatches: ChecksumMismatch[]): void {
  if (stored !== computed) mismatches.push({ place, stored: typeof stored === 'string' ? stored : null, computed })
}
