// A moment of an execution in one word, as people write it: `event:123`, `version:40`, `time:2026-…`, `now`, or
// `snapshot` for the stored state.

import { CpError } from '../../errors.js'
import { parseCutoff, type ReplayCutoff } from './cutoff.js'
import type { FoldProfile } from './profile.js'

export interface Moment {
  cutoff: ReplayCutoff | null
  /** `snapshot`: the state as it was stored, not as the log gives it. */
  source: 'log' | 'snapshot'
}

const NAMES: Readonly<Record<string, string>> = {
  event: 'as_of_event_id',
  position: 'as_of_position',
  version: 'as_of_version',
  time: 'as_of_time',
}

export function parseMoment(profile: FoldProfile, text: string, field: string): Moment {
  if (text === 'now') return { cutoff: null, source: 'log' }
  if (text === 'snapshot') return { cutoff: null, source: 'snapshot' }
  const colon = text.indexOf(':')
  const name = NAMES[text.slice(0, Math.max(0, colon))]
  if (name === undefined) {
    throw new CpError(
      'invalid_input',
      `${field} must be event:<id>, version:<n>, time:<date and time>, now or snapshot, not ${JSON.stringify(text.slice(0, 60))}`,
      { details: { field } },
    )
  }
  return { cutoff: parseCutoff(profile, { [name]: text.slice(colon + 1) }), source: 'log' }
}
