// What a row of the list can show. The path is always there, because it leads to the execution; the rest is the reader's choice,
// which this browser keeps.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { keep, kept } from '../../lib/kept'
import { ask, hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { Status } from '../../parts/Status'
import { Ago, Lasted } from '../../parts/Time'
import { Labels } from './Labels'
import { MiniTimeline } from './MiniTimeline'
import { type ExecutionSummary, hasEnded } from './summary'

interface Column {
  name: string
  cell: (row: ExecutionSummary) => ComponentChildren
  isNumber?: boolean
  style?: string
  /** Only for those who ask for it. */
  isExtra?: boolean
  /** Without a row that it is about, its room is left to the others. */
  isAbout?: (row: ExecutionSummary) => boolean
}

const ALWAYS = 'Path'
export const STARTED = 'Started'
export const TIMELINE = 'Timeline'

export const COLUMNS: readonly Column[] = [
  { name: 'Status', cell: (row) => <Status status={row.status} /> },
  { name: ALWAYS, style: 'ellipsis main', cell: (row) => <PathCell row={row} /> },
  { name: 'Id', cell: (row) => <code class="whole">{row.execution_id}</code> },
  { name: 'Parent', isExtra: true, cell: ({ parent_execution_id: id }) => id !== null && <RunLink id={id} /> },
  { name: STARTED, cell: (row) => <Ago at={row.start_time} /> },
  { name: 'Ended', isExtra: true, cell: (row) => row.end_time !== null && <Ago at={row.end_time} /> },
  { name: 'Lasted', isNumber: true, cell: (row) => <Lasted from={row.start_time} to={row.end_time} /> },
  {
    name: 'Step',
    style: 'ellipsis step',
    cell: ({ current_step: step }) => <span title={step ?? undefined}>{step}</span>,
  },
  { name: 'Last event', isExtra: true, cell: (row) => row.last_event_type },
  { name: 'Events', isNumber: true, cell: (row) => whole(row.event_count) },
  { name: TIMELINE, cell: (row) => <MiniTimeline row={row} /> },
  {
    name: 'Why',
    isAbout: (row) => !hasEnded(row),
    cell: (row) => !hasEnded(row) && <WhyButton id={row.execution_id} />,
  },
]

const KEPT = 'columns'

export const shownColumns = signal<ReadonlySet<string>>(new Set([ALWAYS, ...(kept(KEPT)?.split(',') ?? usual())]))

function usual(): string[] {
  return COLUMNS.filter(({ isExtra }) => isExtra !== true).map(({ name }) => name)
}

export function ColumnChoice() {
  const toggle = (name: string): void => {
    const next = new Set(shownColumns.value)
    if (!next.delete(name)) next.add(name)
    shownColumns.value = next
    keep(KEPT, [...next].join(','))
  }
  return (
    <details>
      <summary class="button">Columns</summary>
      <fieldset class="buttons">
        <legend class="visually-hidden">Columns of the list</legend>
        {COLUMNS.filter(({ name }) => name !== ALWAYS).map(({ name }) => (
          <label key={name}>
            <input type="checkbox" checked={shownColumns.value.has(name)} onChange={() => toggle(name)} /> {name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}

function PathCell({ row }: { row: ExecutionSummary }) {
  return (
    <>
      <a href={hrefOf(`/executions/${row.execution_id}`)} title={row.path ?? undefined}>
        <bdi>{row.path ?? `catalog entry ${row.catalog_id}`}</bdi>
      </a>
      {row.version === null ? null : <span class="muted"> @{row.version}</span>}
      <Labels labels={row.labels} />
    </>
  )
}

function RunLink({ id }: { id: string }) {
  return (
    <a class="mono" href={hrefOf(`/executions/${id}`)}>
      {id}
    </a>
  )
}

function WhyButton({ id }: { id: string }) {
  return (
    <button type="button" class="link" aria-label={`Why ${id} has not ended`} onClick={() => ask({ why: id })}>
      Why?
    </button>
  )
}
