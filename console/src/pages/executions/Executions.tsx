// Find one run, or all runs of a kind.
import { useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { ask, path as place, query } from '../../lib/router'
import { isOperator } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { Execution } from '../execution/Execution'
import { ExecutionTable } from './ExecutionTable'
import { Filters } from './Filters'
import { Histogram } from './Histogram'
import { type ExecutionSummary, FILTERS } from './summary'

const BulkBar = lazy(() => import('./BulkBar').then((module) => module.BulkBar))
const Job = lazy(() => import('../../parts/Job').then((module) => module.Job))

export function Executions() {
  const id = /^\/executions\/(.+)$/.exec(place.value)?.[1]
  return id === undefined ? <ExecutionList /> : <Execution key={id} id={decodeURIComponent(id)} />
}

function ExecutionList() {
  const asked = Object.fromEntries(FILTERS.map((name) => [name, query.value.get(name) ?? undefined]))
  const cursor = query.value.get('cursor') ?? undefined
  const path = apiPath('/api/executions', { ...asked, cursor })
  const list = useResource(path, (signal) => getAnswer<ExecutionSummary[]>(path, signal), {
    everyMs: 3_000,
    topics: ['executions'],
  })
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const next = list.data?.headers.get('x-noetl-next-cursor') ?? undefined
  return (
    <div class="page">
      <h1>Executions</h1>
      <Filters />
      <Histogram asked={asked} />
      {query.value.has('job') && <Job />}
      <Panel
        resource={list}
        lines={10}
        isEmpty={({ body }) => body.length === 0}
        missing={list.data?.headers.get('x-noetl-failed-shards') ?? undefined}
        empty={isFiltered ? <NoneMatch /> : <NoneYet />}
      >
        {({ body }) => <HeldRows key={path} rows={body} asked={asked} isFirstPage={cursor === undefined} />}
      </Panel>
      <nav class="pages" aria-label="Pages">
        {cursor !== undefined && (
          <button type="button" onClick={() => ask({ cursor: undefined })}>
            Newest
          </button>
        )}
        {next !== undefined && (
          <button type="button" onClick={() => ask({ cursor: next })}>
            Load older
          </button>
        )}
      </nav>
    </div>
  )
}

interface HeldRowsProps {
  rows: readonly ExecutionSummary[]
  asked: Record<string, string | undefined>
  isFirstPage: boolean
}

/** Rows change in place; new ones wait behind a button, so that nothing moves under the eye. */
function HeldRows({ rows, asked, isFirstPage }: HeldRowsProps) {
  const [shown, setShown] = useState(() => new Set(rows.map((row) => row.execution_id)))
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const oldest = rows.findLast((row) => shown.has(row.execution_id))
  const known = oldest === undefined ? rows : rows.filter((row) => shown.has(row.execution_id))
  const fresh = rows.length - known.length
  // What nobody sees any more is not acted on.
  const chosen = new Set(known.map((row) => row.execution_id).filter((id) => ticked.has(id)))
  return (
    <>
      {isFirstPage && fresh > 0 && (
        <button type="button" class="fresh" onClick={() => setShown(new Set(rows.map((row) => row.execution_id)))}>
          Show {fresh} new
        </button>
      )}
      {isOperator.value ? (
        <ExecutionTable rows={known} chosen={chosen} onChoose={setTicked} />
      ) : (
        <ExecutionTable rows={known} />
      )}
      {isOperator.value && chosen.size > 0 && (
        <BulkBar
          ids={[...chosen]}
          asked={asked}
          isWholePage={chosen.size === known.length}
          onClear={() => setTicked(new Set())}
        />
      )}
    </>
  )
}

function NoneYet() {
  return (
    <>
      <h2>No executions yet</h2>
      <p>
        Run an example: <CopyText text="noetl-cp run examples/hello.yaml" />
      </p>
      <p>
        Or fill the console with a small world: <CopyText text="noetl-cp demo" />
      </p>
    </>
  )
}

function NoneMatch() {
  const clear = Object.fromEntries([...FILTERS, 'cursor'].map((name) => [name, undefined]))
  return (
    <>
      <h2>Nothing matches these filters</h2>
      <button type="button" onClick={() => ask(clear)}>
        Show all executions
      </button>
    </>
  )
}
