// Rows that came back, watched: one that dies again says so.
import { ApiError, get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { keyOf, type OutboxRow } from './outbox'
import { SampleTable } from './SampleTable'

export function WatchedRows({ rows, total }: { rows: readonly OutboxRow[]; total: number }) {
  const watched = useResource(
    `outcome of ${rows.map(keyOf).join(' ')}`,
    (signal) => Promise.all(rows.map((row) => presentOf(row, signal))),
    { everyMs: 2_000, topics: ['outbox'] },
  )
  return <Panel resource={watched}>{(now) => <SampleTable rows={now} total={total} isOutcome />}</Panel>
}

async function presentOf(row: OutboxRow, signal: AbortSignal): Promise<OutboxRow> {
  try {
    return await get<OutboxRow>(`/api/internal/outbox/rows/${row.outbox_id}?shard=${row.shard}`, signal)
  } catch (error) {
    // Published rows are cleaned up after a while.
    if (error instanceof ApiError && error.status === 404) return { ...row, status: 'PUBLISHED', last_error: null }
    throw error
  }
}
