// Snapshots by execution, with what was found out about each in its row.
import { useState } from 'preact/hooks'
import { hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { Glyph, Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { hasEnded } from '../executions/summary'
import {
  executionOf,
  keyOf,
  type Outcome,
  REBUILD,
  type Snapshot,
  TAKE,
  TYPES,
  typeOf,
  VERIFY,
  VERIFY_REPLAY,
} from './snapshot'
import { WorkButton } from './WorkButton'

export function SnapshotTable({ rows, onDone }: { rows: readonly Snapshot[]; onDone: () => void }) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Execution</th>
            <th>Status</th>
            <th>Kind</th>
            <th class="number">Version</th>
            <th class="number" title="Events since">
              Behind
            </th>
            <th class="number">Bytes</th>
            <th>Written</th>
            <th>Checksum</th>
            <th>Found</th>
            <th class="act">
              <span class="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={keyOf(row)}
              row={row}
              outcome={outcomes.get(keyOf(row))}
              onOutcome={(outcome) => {
                setOutcomes((before) => new Map(before).set(keyOf(row), outcome))
                onDone()
              }}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  row: Snapshot
  outcome: Outcome | undefined
  onOutcome: (outcome: Outcome) => void
}

function Row({ row, outcome, onOutcome }: RowProps) {
  const id = executionOf(row)
  const type = typeOf(row)
  return (
    <tr>
      <td>
        {id === undefined || row.execution_status === null ? (
          <code class="whole">{row.name}</code>
        ) : (
          <a class="mono" href={hrefOf(`/${row.is_subscription ? 'subscriptions' : 'executions'}/${id}`)}>
            {id}
          </a>
        )}
        {row.shard > 0 && <span class="muted"> shard {row.shard}</span>}
      </td>
      <td>
        {row.is_subscription || row.execution_status === null ? (
          <span class="muted">{row.is_subscription ? 'subscription' : 'gone'}</span>
        ) : (
          <Status status={row.execution_status} />
        )}
      </td>
      <td title={row.name}>{type === undefined ? row.type : TYPES[type]}</td>
      <td class="number" data-name="Version">
        {row.version}
      </td>
      <td class="number" data-name="Behind">
        {row.behind === null ? <span class="muted">–</span> : row.behind}
      </td>
      <td class="number" data-name="Bytes">
        {row.stored_bytes === null ? <span class="muted">–</span> : whole(row.stored_bytes)}
      </td>
      <td>
        <Ago at={row.updated_at} />
      </td>
      <td title={row.checksum}>
        <code>{row.checksum.slice(0, 8)}</code>
      </td>
      <td class="found">
        <Found outcome={outcome} />
      </td>
      <td class="act">
        <span class="work">{workOf()}</span>
      </td>
    </tr>
  )

  function workOf() {
    if (id === undefined || type === undefined || row.execution_status === null) return null
    if (type === 'replay') {
      return (
        <>
          <WorkButton work={VERIFY_REPLAY} executionId={id} onOutcome={onOutcome} />
          <WorkButton work={TAKE} executionId={id} onOutcome={onOutcome} />
        </>
      )
    }
    const isOver = hasEnded({ status: row.execution_status })
    return (
      <>
        <WorkButton work={VERIFY} executionId={id} onOutcome={onOutcome} />
        <WorkButton
          work={REBUILD}
          executionId={id}
          needless={isOver ? 'The execution has ended: its live state needs no snapshot any more' : undefined}
          onOutcome={onOutcome}
        />
      </>
    )
  }
}

export function Found({ outcome }: { outcome: Outcome | undefined }) {
  return (
    <span role="status" class={`outcome ${outcome === undefined ? '' : outcome.isGood ? 'completed' : 'failed'}`}>
      {outcome !== undefined && <Glyph kind={outcome.isGood ? 'completed' : 'failed'} />}
      {outcome?.text}
    </span>
  )
}
