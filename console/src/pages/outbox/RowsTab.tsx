// Rows by status and execution; without a filter what is not settled, oldest first.
import { ask, query } from '../../lib/router'
import { StatusChip } from '../../parts/Status'
import { OUTBOX_STATUSES } from './outbox'
import { RowPages } from './RowPages'

export function RowsTab() {
  const [status, execution] = ['status', 'execution'].map((name) => query.value.get(name) ?? undefined)
  return (
    <>
      <search class="filters">
        {OUTBOX_STATUSES.map((one) => (
          <StatusChip
            key={one}
            status={one}
            isOn={status === one}
            onClick={() => ask({ status: status === one ? undefined : one, cursor: undefined })}
          />
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
      {status === undefined && execution === undefined && (
        <p class="muted">What is neither published nor given up, oldest first.</p>
      )}
      <RowPages
        status={status}
        executionId={execution}
        empty={
          status === undefined && execution === undefined ? (
            <p>Everything is published or given up: no row waits.</p>
          ) : (
            <p>No row of the outbox matches.</p>
          )
        }
      />
    </>
  )
}
