// What an act on many would do, as the daemon says it.
import type { JsonObject } from '../../../domain/json/value.js'
import type { Output } from '../../output.js'

export interface BulkPlan {
  matched: number
  /** Whose status allows it; the others would be refused. */
  concerned: number
  more: boolean
  by_status: Record<string, number>
  sample: { execution_id: string; status: string }[]
}

export function planOutput(plan: BulkPlan, done: string): Output {
  const { matched, concerned, more, by_status: counts, sample } = plan
  const byStatus = Object.entries(counts).map(([status, count]) => `${count} ${status}`)
  return {
    json: { dry_run: true, ...(plan as unknown as JsonObject) },
    blocks: [
      {
        kind: 'table',
        columns: ['execution', 'status'],
        rows: sample.map(({ execution_id: id, status }) => [id, status]),
        empty: 'no execution matches',
      },
    ],
    notes: [
      ...(sample.length < matched ? [`the first ${sample.length}; by status: ${byStatus.join(', ')}`] : []),
      `dry run: ${concerned} of ${more ? 'the first ' : ''}${matched} would be ${done}; nothing is changed`,
    ],
  }
}
