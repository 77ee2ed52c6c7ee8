// Named text parameters → a replay request. HTTP and the command line ask with the same names.
import { parseMoment } from '../../domain/replay/moment.js'
import { FOLD_PROFILES, type FoldProfile } from '../../domain/replay/profile.js'
import { parseBoolean, parseReplayQuery, type ReplayQuery } from '../../domain/replay/replayQuery.js'
import { CpError } from '../../errors.js'
import type { DiffRequest } from './replay.js'

export type Parameters = Readonly<Record<string, string | undefined>>

export interface ParsedRequest {
  profile: FoldProfile
  query: ReplayQuery
  fromSnapshot: boolean
}

export function parseReplayRequest(usual: FoldProfile, parameters: Parameters): ParsedRequest {
  const profile = parseProfile(usual, parameters['profile'])
  const wish = parameters['from_snapshot']
  if (profile === 'server' && wish !== undefined && parseBoolean('from_snapshot', wish)) {
    throw new CpError('invalid_input', 'profile server never starts from a snapshot; leave from_snapshot out', {
      details: { field: 'from_snapshot' },
    })
  }
  return {
    profile,
    query: parseReplayQuery(profile, parameters),
    // The older generation always took a snapshot where there was one, and its documents say so.
    fromSnapshot: wish === undefined ? profile === 'python' : parseBoolean('from_snapshot', wish),
  }
}

export function parseDiffRequest(usual: FoldProfile, parameters: Parameters): DiffRequest {
  const { from, to, ...rest } = parameters
  const profile = parseProfile(usual, parameters['profile'])
  if (from === undefined) throw new CpError('invalid_input', 'from is missing', { details: { field: 'from' } })
  const query = { ...parseReplayQuery(profile, rest), limit: Number.POSITIVE_INFINITY }
  const left = parseMoment(profile, from, 'from')
  const right = parseMoment(profile, to ?? 'now', 'to')
  return {
    profile,
    from: { query: { ...query, cutoff: left.cutoff }, source: left.source },
    to: { query: { ...query, cutoff: right.cutoff }, source: right.source },
  }
}

export function parseProfile(usual: FoldProfile, text: string | undefined): FoldProfile {
  if (text === undefined) return usual
  const profile = FOLD_PROFILES.find((name) => name === text)
  if (profile === undefined) {
    throw new CpError('invalid_input', `profile must be one of ${FOLD_PROFILES.join(', ')}`, {
      details: { field: 'profile' },
    })
  }
  return profile
}
