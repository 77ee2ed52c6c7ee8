// The question behind a replay, read from named text parameters (a query string or command options) and
// checked completely before anything is loaded. Every refusal names its parameter.

import { CpError } from '../../errors.js'
import type { Integer } from './coerce.js'
import { CUTOFF_NAMES, parseCutoff, parseInt64, type ReplayCutoff } from './cutoff.js'
import { checkProjection, type FoldProfile } from './profile.js'

export interface ReplayQuery {
  tenantId: string
  organizationId: string
  executionId: Integer
  projection: string
  cutoff: ReplayCutoff | null
  /** How many events at most are folded; after a seed, of the rest. */
  limit: number
  resolvePayloads: boolean
  /** Whether ids go out as text; as numbers they are exact but beyond what JavaScript clients can read. */
  ids: 'number' | 'string'
}

export const LIMIT_DEFAULT = 10_000
export const LIMIT_MAX = 100_000

const NAMES = new Set<string>([
  ...['execution_id', 'tenant_id', 'organization_id', 'projection', 'limit', 'resolve_payloads', 'ids', 'profile'],
  'from_snapshot',
  ...CUTOFF_NAMES,
])

export function parseReplayQuery(
  profile: FoldProfile,
  parameters: Readonly<Record<string, string | undefined>>,
): ReplayQuery {
  for (const name of Object.keys(parameters)) {
    if (!NAMES.has(name)) throw refusal(name, `unknown parameter ${name}; known are ${Array.from(NAMES).join(', ')}`)
  }
  const { execution_id: executionId, projection = 'all', ids = 'number' } = parameters
  if (executionId === undefined) throw refusal('execution_id', 'execution_id is missing')
  if (ids !== 'number' && ids !== 'string') throw refusal('ids', 'ids must be number or string')
  checkProjection(profile, projection)
  return {
    tenantId: parameters['tenant_id'] ?? 'default',
    organizationId: parameters['organization_id'] ?? 'default',
    executionId: parseInt64('execution_id', executionId),
    projection,
    limit: parseLimit(parameters['limit']),
    resolvePayloads: parseBoolean('resolve_payloads', parameters['resolve_payloads']),
    ids,
    cutoff: parseCutoff(profile, parameters),
  }
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT
  const limit = parseInt64('limit', text)
  return Math.min(Math.max(Number(limit), 1), LIMIT_MAX)
}

const TRUE = new Set(['true', '1', 'yes', 'on', 't', 'y'])
const FALSE = new Set(['false', '0', 'no', 'off', 'f', 'n'])

export function parseBoolean(field: string, text: string | undefined): boolean {
  if (text === undefined) return false
  const lower = text.toLowerCase()
  if (TRUE.has(lower)) return true
  if (FALSE.has(lower)) return false
  throw refusal(field, `${field} must be true or false`)
}

function refusal(field: string, message: string): CpError {
  return new CpError('invalid_input', message, { details: { field } })
}
