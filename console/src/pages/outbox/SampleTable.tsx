// The first of many rows: before an act, why they died; after it, how they stand now.
import { Status } from '../../parts/Status'
import { keyOf, type OutboxRow } from './outbox'

export function SampleTable(props: { rows: readonly OutboxRow[]; total: number; isOutcome?: boolean }) {
  const { rows, total, isOutcome = false } = props
  return (
    <div class="scroll sample">
      <table class="wide">
        {rows.length < total && <caption>The first {rows.length}</caption>}
        <thead>
          <tr>
            <th>Row</th>
            <th>{isOutcome ? 'Now' : 'Execution'}</th>
            <th>Reason</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <td class="mono">{row.outbox_id}</td>
              <td class="mono">{isOutcome ? <Now status={row.status} /> : row.execution_id}</td>
              <td class="ellipsis" title={row.last_error ?? undefined}>
                {row.last_error}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Now({ status }: { status: string }) {
  return status === 'DEAD' ? <Status status="died again" kind="stuck" /> : <Status status={status} />
}
