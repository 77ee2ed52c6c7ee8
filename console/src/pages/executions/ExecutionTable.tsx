// The rows of the list. `j` and `k` move along them, Enter opens one, `w` tells why it has not ended, `x` ticks it.
// The heading of the start turns the order round. The row one is at is in the address: the way back leads to it.
import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { ask, go, hrefOf, query } from '../../lib/router'
import { useRested } from '../../lib/useRested'
import { WhatFailed } from '../../parts/WhatFailed'
import { COLUMNS, STARTED, shownColumns, TIMELINE } from './columns'
import { type ExecutionSummary, hasEnded } from './summary'
import { useTimelines } from './timelines'

interface ExecutionTableProps {
  rows: readonly ExecutionSummary[]
  isOldestFirst: boolean
  chosen: ReadonlySet<string>
  onChoose: (ids: ReadonlySet<string>) => void
}

const NONE: readonly ExecutionSummary[] = []

export function ExecutionTable({ rows, isOldestFirst, chosen, onChoose }: ExecutionTableProps) {
  // By its id: rows come and go above it.
  const [marked, setMarked] = useState(query.peek().get('row') ?? undefined)
  /** Keys may come quicker than the list is drawn. */
  const newest = useRef(marked)
  const mark = (id: string | undefined): void => {
    newest.current = id
    setMarked(id)
  }
  const placeOf = (id: string | undefined): number => rows.findIndex((row) => row.execution_id === id)
  const markedRow = (): ExecutionSummary | undefined => rows[placeOf(newest.current)]
  const rested = useRested(marked)
  useEffect(() => ask({ row: rested }, { replace: true }), [rested])
  const at = placeOf(marked)
  const columns = COLUMNS.filter(
    ({ name, isAbout }) => shownColumns.value.has(name) && (isAbout === undefined || rows.some(isAbout)),
  )
  useTimelines(shownColumns.value.has(TIMELINE) ? rows : NONE)
  const move = (by: number): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, placeOf(newest.current) + by))]?.execution_id
    mark(next)
    const line = document.getElementById(`row-${next}`)
    line?.scrollIntoView({ block: 'nearest' })
    // It is told, too, where one is.
    line?.querySelector<HTMLElement>('a[href]')?.focus({ preventScroll: true })
  }
  // At once: whoever opens it is gone before it rests.
  const leaveAt = (id: string): void => {
    mark(id)
    ask({ row: id }, { replace: true })
  }
  const toggle = (id: string): void => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    onChoose(next)
  }
  const isEach = rows.length > 0 && rows.every((row) => chosen.has(row.execution_id))
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = markedRow()
      if (row === undefined) return
      leaveAt(row.execution_id)
      go(hrefOf(`/executions/${row.execution_id}`))
    },
    w: () => {
      const row = markedRow()
      if (row !== undefined && !hasEnded(row)) ask({ why: row.execution_id })
    },
    ...(rows[at] === undefined ? {} : { x: () => toggle(markedRow()!.execution_id) }),
  })
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th class="tick">
              <input
                type="checkbox"
                aria-label="Choose all of this page"
                checked={isEach}
                onChange={() => onChoose(new Set(isEach ? [] : rows.map((row) => row.execution_id)))}
              />
            </th>
            {columns.map(({ name, isNumber }) =>
              name === STARTED ? (
                <StartedHead key={name} isOldestFirst={isOldestFirst} />
              ) : (
                <th key={name} class={isNumber === true ? 'number' : ''}>
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Fragment key={row.execution_id}>
              <tr
                id={`row-${row.execution_id}`}
                aria-selected={index === at}
                onClickCapture={({ target }) =>
                  target instanceof Element && target.closest('a') !== null && leaveAt(row.execution_id)
                }
              >
                <td class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${row.execution_id}`}
                    checked={chosen.has(row.execution_id)}
                    onChange={() => toggle(row.execution_id)}
                  />
                </td>
                {columns.map(({ name, isNumber, style = '', cell }) => (
                  <td
                    key={name}
                    class={isNumber === true ? 'number' : style}
                    data-name={isNumber === true ? name : undefined}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
              {row.error !== null && (
                <WhatFailed text={row.error} columns={columns.length + 1} isInset isMarked={index === at} />
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function StartedHead({ isOldestFirst }: { isOldestFirst: boolean }) {
  return (
    <th aria-sort={isOldestFirst ? 'ascending' : 'descending'}>
      <button
        type="button"
        class="link"
        title={isOldestFirst ? 'Show the newest first' : 'Show the oldest first'}
        onClick={() => ask({ order: isOldestFirst ? undefined : 'oldest', cursor: undefined })}
      >
        {STARTED} <span aria-hidden="true">{isOldestFirst ? '▲' : '▼'}</span>
      </button>
    </th>
  )
}
