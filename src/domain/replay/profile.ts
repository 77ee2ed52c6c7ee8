// The names that decide the bytes of a replay. Generations of fold rules exist and disagree; `python` reproduces the older one
// byte for byte, `server` the newer one (the Rust server), `cp` is what this control plane promises. A `cp` state carries the
// mark of its profile inside the hash, so checksums can never be confused.

import { CpError } from '../../errors.js'

export const FOLD_PROFILES = ['cp', 'python', 'server'] as const
export type FoldProfile = (typeof FOLD_PROFILES)[number]

/** The value of `fold_profile` in a `cp` state. Any change of a fold rule needs a new number. */
export const CP_PROFILE_MARK = 'cp/1'

export const PROJECTIONS = ['execution', 'stage', 'frame', 'command', 'business_object', 'loop', 'all'] as const
export type Projection = (typeof PROJECTIONS)[number]

export const SURFACES = ['execution', 'stages', 'frames', 'commands', 'business_objects', 'loops'] as const
export type Surface = (typeof SURFACES)[number]
export type ProjectionChecksums = Record<Surface, string>

export const MAP_SURFACES = ['stages', 'frames', 'commands', 'business_objects', 'loops'] as const
export type MapSurface = (typeof MAP_SURFACES)[number]

const PROJECTION_OF_MAP: Readonly<Record<MapSurface, Projection>> = {
  stages: 'stage',
  frames: 'frame',
  commands: 'command',
  business_objects: 'business_object',
  loops: 'loop',
}

/** Whether a document of this projection shows the map; the label means nothing in `python`. */
export function isShown(profile: FoldProfile, projection: string, map: MapSurface): boolean {
  return profile === 'python' || projection === 'all' || PROJECTION_OF_MAP[map] === projection
}

export function checkProjection(profile: FoldProfile, projection: string): void {
  if (profile === 'python' || (PROJECTIONS as readonly string[]).includes(projection)) return
  throw new CpError('invalid_input', `unknown projection "${projection}"; use one of ${PROJECTIONS.join(', ')}`, {
    details: { projection, allowed: PROJECTIONS },
  })
}
