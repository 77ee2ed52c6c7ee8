// An execution in a list, as GET /api/executions has it, and what narrows the list.
import { clockText, millisOf } from '../../lib/time'

export interface ExecutionSummary {
  execution_id: string
  catalog_id: string
  path: string | null
  version: number | null
  status: string
  start_time: string | null
  end_time: string | null
  error: string | null
  parent_execution_id: string | null
  event_count: number
  current_step: string | null
  last_event_type: string | null
  labels: Readonly<Record<string, string>>
}

export const STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

const ENDED: readonly string[] = STATUSES.filter((status) => status !== 'RUNNING')

export function hasEnded({ status }: Pick<ExecutionSummary, 'status'>): boolean {
  return ENDED.includes(status)
}

/** Parts of the address that narrow the list. */
export const FILTERS = [
  'status',
  'q',
  'path',
  'step',
  'label',
  'worker',
  'parent',
  'tenant',
  'catalog_id',
  'since',
  'until',
  'min_seconds',
  'max_seconds',
] as const

export type Filter = (typeof FILTERS)[number]

/** Those that narrow something, of what the address has. */
export function givenOf(asked: Readonly<Record<string, string | undefined>>): [name: string, value: string][] {
  return Object.entries(asked).filter((entry): entry is [string, string] => Boolean(entry[1]))
}

const NAMES: Readonly<Record<string, string>> = {
  q: 'text',
  catalog_id: 'catalog entry',
  min_seconds: 'longer than',
  max_seconds: 'shorter than',
}

/** A filter as people read it. */
export function filterText(name: string, value: string): string {
  const at = name === 'since' || name === 'until' ? millisOf(value) : Number.NaN
  const shown = name === 'status' ? value.toLowerCase().replaceAll(',', ' or ') : value
  return `${NAMES[name] ?? name} ${Number.isNaN(at) ? shown : clockText(at)}${name.endsWith('_seconds') ? ' s' : ''}`
}
