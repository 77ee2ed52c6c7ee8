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
  progress: number
  error: string | null
  parent_execution_id: string | null
  event_count: number
  current_step: string | null
  last_event_type: string | null
  labels: Readonly<Record<string, string>>
}

export const STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

export function hasEnded({ end_time: end }: ExecutionSummary): boolean {
  return end !== null
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
  'since',
  'until',
  'min_seconds',
] as const

export type Filter = (typeof FILTERS)[number]

/** A filter as people read it. */
export function filterText(name: string, value: string): string {
  const at = name === 'since' || name === 'until' ? millisOf(value) : Number.NaN
  const shown = name === 'status' ? value.toLowerCase().replaceAll(',', ' or ') : value
  return `${name === 'q' ? 'text' : name.replace('_', ' ')} ${Number.isNaN(at) ? shown : clockText(at)}`
}

/** What somebody looks for, as filters of the list: `label.team=pay`, `worker=w-1`, or text. */
export function wantedBy(text: string): Partial<Record<Filter, string>> {
  const label = /^label\.([^=]+=.+)$/.exec(text)?.[1]
  if (label !== undefined) return { label }
  const worker = /^worker=(.+)$/.exec(text)?.[1]
  return worker === undefined ? { q: text } : { worker }
}
