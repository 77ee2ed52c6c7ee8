// Rows of the outbox, page by page, and the one that was opened whole beside them.
import type { ComponentChildren } from 'preact'
import { apiPath, getAnswer } from '../../lib/api'
import { query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { missingOf, type OutboxRows } from './outbox'
import { RowDetail } from './RowDetail'
import { RowTable } from './RowTable'

interface RowPagesProps {
  status?: string | undefined
  executionId: string | undefined
  /** Why there is none. */
  empty: ComponentChildren
  /** Where all rows are of one execution: what shows an event of it. */
  goTo?: (eventId: string) => void
}

export function RowPages({ status, executionId, empty, ...shown }: RowPagesProps) {
  const [cursor, row] = ['cursor', 'row'].map((name) => query.value.get(name) ?? undefined)
  const path = apiPath('/api/internal/outbox/rows', { status, execution_id: executionId, cursor })
  const rows = useResource(path, (signal) => getAnswer<OutboxRows>(path, signal), {
    everyMs: 3_000,
    topics: ['outbox'],
  })
  return (
    <div class={row === undefined ? 'beside' : 'beside open'}>
      <div>
        <Panel
          resource={rows}
          lines={8}
          missing={missingOf(rows.data)}
          isEmpty={({ body }) => body.rows.length === 0}
          empty={empty}
        >
          {({ body }) => <RowTable rows={body.rows} {...shown} />}
        </Panel>
        <Pages cursor={cursor} next={rows.data?.body.next_cursor ?? undefined} />
      </div>
      {row !== undefined && <RowDetail key={row} row={row} />}
    </div>
  )
}
