// Rows by status and execution; without a filter what is not settled, oldest first.
import { apiPath, get } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { Glyph, kindOf } from '../../parts/Status'
import { OUTBOX_STATUSES, type OutboxRows } from './outbox'
import { RowDetail } from './RowDetail'
import { RowTable } from './RowTable'

export function RowsTab() {
  const [status, execution, cursor, row] = ['status', 'execution', 'cursor', 'row'].map(
    (name) => query.value.get(name) ?? undefined,
  )
  const path = apiPath('/api/internal/outbox/rows', { status, execution_id: execution, cursor })
  const rows = useResource(path, (signal) => get<OutboxRows>(path, signal), { everyMs: 3_000, topics: ['outbox'] })
  useKeys({ Escape: () => ask({ row: undefined }) })
  return (
    <>
      <search class="filters">
        {OUTBOX_STATUSES.map((one) => (
          <button
            key={one}
            type="button"
            class={`chip ${kindOf(one)}`}
            aria-pressed={status === one}
            onClick={() => ask({ status: status === one ? undefined : one, cursor: undefined })}
          >
            <Glyph kind={kindOf(one)} />
            {one.toLowerCase().replace('_', ' ')}
          </button>
        ))}
        <input
          key={execution ?? ''}
          type="search"
          inputMode="numeric"
          aria-label="Id of an execution"
          placeholder="Id of an execution"
          defaultValue={execution ?? ''}
          onChange={(event) => ask({ execution: event.currentTarget.value.trim(), cursor: undefined })}
        />
      </search>
      <div class={row === undefined ? 'beside' : 'beside open'}>
        <div>
          <Panel
            resource={rows}
            lines={8}
            isEmpty={(data) => data.rows.length === 0}
            empty={
              status === undefined && execution === undefined ? (
                <p>Everything is published or given up: no row waits.</p>
              ) : (
                <p>No row of the outbox matches.</p>
              )
            }
          >
            {(data) => <RowTable rows={data.rows} />}
          </Panel>
          <Pages cursor={cursor} next={rows.data?.next_cursor ?? undefined} />
        </div>
        {row !== undefined && <RowDetail key={row} row={row} />}
      </div>
    </>
  )
}
