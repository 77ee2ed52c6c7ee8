// Which version of a catalog entry somebody asks for. Clients send a number, its text, "latest" or nothing.
import { CpError } from '../../errors.js'
import type { JsonValue } from '../json/value.js'

/** What its column holds. */
const VERSION_MAX = 2_147_483_647

/** Undefined is the newest. */
export function parseVersion(value: JsonValue | undefined): number | undefined {
  if (value === undefined || value === null || value === 'latest' || value === '') return undefined
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{1,9}$/.test(value)
        ? Number(value)
        : Number.NaN
  if (!Number.isInteger(number) || number < 1 || number > VERSION_MAX)
    throw new CpError('invalid_input', `/version must be "latest" or a whole number from 1 to ${VERSION_MAX}`)
  return number
}
