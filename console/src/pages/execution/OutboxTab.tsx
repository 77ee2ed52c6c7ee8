// Rows of the outbox that the events of this run have, published or not, oldest first; one of them whole beside the list.
import { apiPath, get } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import type { OutboxRows } from '../outbox/outbox'
import { RowDetail } from '../outbox/RowDetail'
import { RowTable } from '../outbox/RowTable'

interface OutboxTabProps {
  executionId: string
  /** Moves the handle to an event. */
  goTo: (eventId: string) => void
}

export function OutboxTab({ executionId, goTo }: OutboxTabProps) {
  const [cursor, row] = ['cursor', 'row'].map((name) => query.value.get(name) ?? undefined)
  const path = apiPath('/api/internal/outbox/rows', { execution_id: executionId, cursor })
  const rows = useResource(path, (signal) => get<OutboxRows>(path, signal), { everyMs: 3_000, topics: ['outbox'] })
  useKeys(row === undefined ? {} : { Escape: () => ask({ row: undefined }) })
  return (
    <div class={row === undefined ? 'beside' : 'beside open'}>
      <div>
        <Panel
          resource={rows}
          lines={8}
          isEmpty={(data) => data.rows.length === 0}
          empty={<p>No row of the outbox is left: what was published is cleaned up after a while.</p>}
        >
          {(data) => <RowTable rows={data.rows} goTo={goTo} />}
        </Panel>
        <Pages cursor={cursor} next={rows.data?.next_cursor ?? undefined} />
      </div>
      {row !== undefined && <RowDetail key={row} row={row} />}
    </div>
  )
}
