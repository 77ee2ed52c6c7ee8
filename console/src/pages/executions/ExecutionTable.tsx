// The rows of the list. `j` and `k` move along them, Enter opens one; with `chosen` each can be ticked, by `x` as well.
import { useState } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { go, hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { Status } from '../../parts/Status'
import { Ago, Lasted } from '../../parts/Time'
import type { ExecutionSummary } from './summary'

interface ExecutionTableProps {
  rows: readonly ExecutionSummary[]
  chosen?: ReadonlySet<string> | undefined
  onChoose?: (ids: ReadonlySet<string>) => void
}

export function ExecutionTable({ rows, chosen, onChoose }: ExecutionTableProps) {
  const [at, setAt] = useState(-1)
  const move = (by: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, at + by))
    setAt(next)
    document.getElementById(`row-${rows[next]?.execution_id}`)?.scrollIntoView({ block: 'nearest' })
  }
  const toggle = (id: string): void => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    onChoose?.(next)
  }
  const isEach = rows.every((row) => chosen?.has(row.execution_id))
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows[at]
      if (row !== undefined) go(hrefOf(`/executions/${row.execution_id}`))
    },
    ...(chosen === undefined || rows[at] === undefined ? {} : { x: () => toggle(rows[at]!.execution_id) }),
  })
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            {chosen !== undefined && (
              <th class="tick">
                <input
                  type="checkbox"
                  aria-label="Choose all of this page"
                  checked={isEach}
                  onChange={() => onChoose?.(new Set(isEach ? [] : rows.map((row) => row.execution_id)))}
                />
              </th>
            )}
            <th>Status</th>
            <th>Path</th>
            <th>Id</th>
            <th>Started</th>
            <th class="number">Lasted</th>
            <th>Step</th>
            <th class="number">Events</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row.execution_id} id={`row-${row.execution_id}`} aria-selected={index === at}>
              {chosen !== undefined && (
                <td class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${row.execution_id}`}
                    checked={chosen.has(row.execution_id)}
                    onChange={() => toggle(row.execution_id)}
                  />
                </td>
              )}
              <td>
                <Status status={row.status} />
              </td>
              <td class="ellipsis main">
                <a href={hrefOf(`/executions/${row.execution_id}`)}>{row.path ?? `catalog entry ${row.catalog_id}`}</a>
                {row.version === null ? null : <span class="muted"> @{row.version}</span>}
                <Labels labels={row.labels} />
                {row.error === null ? null : <span class="failed"> {row.error}</span>}
              </td>
              <td>
                <code class="whole">{row.execution_id}</code>
              </td>
              <td>
                <Ago at={row.start_time} />
              </td>
              <td class="number">
                <Lasted from={row.start_time} to={row.end_time} />
              </td>
              <td class="ellipsis step" title={row.current_step ?? undefined}>
                {row.current_step}
              </td>
              <td class="number">{whole(row.event_count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Each leads to all executions that have it. */
export function Labels({ labels }: { labels: ExecutionSummary['labels'] }) {
  return (
    <>
      {Object.entries(labels).map(([name, value]) => (
        <a key={name} class="label" href={hrefOf('/executions', { label: `${name}=${value}` })}>
          {name}={value}
        </a>
      ))}
    </>
  )
}
