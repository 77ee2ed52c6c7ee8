// Up to where a log is replayed: an event id, a version within the execution, or a time; at most one of
// them, every bound inclusive. Parsing only: nothing here knows the log.

import { CpError } from '../../errors.js'
import { parseWireTime, type WireTime, wireTimeFromMicros } from '../events/wireTime.js'
import { integerValue } from '../json/value.js'
import type { Integer } from './coerce.js'
import type { FoldProfile } from './profile.js'

export type ReplayCutoff =
  | { kind: 'event_id'; eventId: Integer }
  | { kind: 'version'; version: Integer }
  | { kind: 'time'; time: WireTime }

export interface CutoffParameters {
  as_of_event_id?: string | undefined
  /** An older name of as_of_event_id. */
  as_of_position?: string | undefined
  /** The dense number of an event within its execution. */
  as_of_version?: string | undefined
  as_of_time?: string | undefined
}

export const CUTOFF_NAMES = ['as_of_event_id', 'as_of_position', 'as_of_version', 'as_of_time'] as const

export function parseCutoff(profile: FoldProfile, parameters: CutoffParameters): ReplayCutoff | null {
  const given = CUTOFF_NAMES.filter((name) => parameters[name] !== undefined)
  const cutoffs = given.map((name) => parseOne(name, parameters[name]!))
  if (given.length > 1) {
    throw new CpError('invalid_input', `Use only one replay cutoff: ${given.join(', ')} were given`, {
      details: { fields: given },
    })
  }
  const cutoff = cutoffs[0] ?? null
  // An old mistake that states of this profile have to repeat: zero was taken for "not given".
  const isIgnored = profile === 'python' && given[0] === 'as_of_event_id'
  return isIgnored && cutoff?.kind === 'event_id' && cutoff.eventId === 0 ? null : cutoff
}

function parseOne(name: (typeof CUTOFF_NAMES)[number], text: string): ReplayCutoff {
  if (name === 'as_of_version') return { kind: 'version', version: parseInt64(name, text) }
  if (name !== 'as_of_time') return { kind: 'event_id', eventId: parseInt64(name, text) }
  const time = /^[0-9]{1,16}(?:\.[0-9]{1,9})?$/.test(text) ? unixTime(text) : parseWireTime(text, name)
  if (time === undefined) throw new CpError('invalid_input', `${name} is empty`, { details: { field: name } })
  return { kind: 'time', time }
}

// Larger numbers can only be meant as milliseconds: as seconds they lie beyond the year 2600.
const SECONDS_MAX = 2e10

function unixTime(text: string): WireTime {
  const [whole, fraction = ''] = text.split('.') as [string, string?]
  const isSeconds = Number(whole) <= SECONDS_MAX
  const digits = isSeconds ? 6 : 3
  const micros = BigInt(whole) * 10n ** BigInt(digits) + BigInt(fraction.slice(0, digits).padEnd(digits, '0') || '0')
  return wireTimeFromMicros(micros)
}

const INT64_MAX = 2n ** 63n - 1n

export function parseInt64(field: string, text: string): Integer {
  const value = /^[+-]?[0-9]{1,19}$/.test(text) ? BigInt(text) : null
  if (value === null || value > INT64_MAX || value < -INT64_MAX - 1n) {
    throw new CpError('invalid_input', `${field} must be a 64-bit integer in decimal digits`, { details: { field } })
  }
  return integerValue(value)
}
