// Rows of the outbox as a table; with `chosen`, each can be ticked.
import { ask, hrefOf, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { keyOf, type OutboxRow } from './outbox'

interface RowTableProps {
  rows: readonly OutboxRow[]
  chosen?: ReadonlySet<string>
  onChoose?: (keys: ReadonlySet<string>) => void
  /** Where all rows are of one execution: what shows an event of it. */
  goTo?: (eventId: string) => void
}

export function RowTable({ rows, chosen, onChoose, goTo }: RowTableProps) {
  const open = query.value.get('row')
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            {chosen !== undefined && (
              <th class="tick">
                <span class="visually-hidden">Chosen</span>
              </th>
            )}
            <th>Row</th>
            <th>Status</th>
            <th>{goTo === undefined ? 'Execution' : 'Event'}</th>
            <th>Reason</th>
            <th class="number">Attempts</th>
            <th class="number">Bytes</th>
            <th>Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} aria-selected={keyOf(row) === open}>
              {chosen !== undefined && (
                <td class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Choose row ${row.outbox_id}`}
                    checked={chosen.has(keyOf(row))}
                    onChange={() => onChoose?.(toggled(chosen, keyOf(row)))}
                  />
                </td>
              )}
              <td>
                <button type="button" class="link mono" onClick={() => ask({ row: keyOf(row) })}>
                  {row.outbox_id}
                </button>
                {row.shard > 0 && <span class="muted"> shard {row.shard}</span>}
              </td>
              <td>
                <Status status={row.status} />
              </td>
              <td>
                {goTo !== undefined ? (
                  <button type="button" class="link mono" onClick={() => goTo(row.event_id)}>
                    {row.event_id}
                  </button>
                ) : row.execution_id === null ? (
                  <span class="muted">–</span>
                ) : (
                  <a class="mono" href={hrefOf(`/executions/${row.execution_id}`)}>
                    {row.execution_id}
                  </a>
                )}
              </td>
              <td class="ellipsis main" title={row.last_error ?? undefined}>
                {row.last_error}
              </td>
              <td class="number" data-name="Attempts">
                {row.attempts}
              </td>
              <td class="number" data-name="Bytes">
                {whole(row.bytes)}
              </td>
              <td>
                <Ago at={row.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function toggled(chosen: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(chosen)
  if (!next.delete(key)) next.add(key)
  return next
}
