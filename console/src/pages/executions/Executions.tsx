// Find one run, or all runs of a kind.
import { useRef, useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { ask, path as place, query } from '../../lib/router'
import { isOperator } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { ColumnChoice } from './columns'
import { ExecutionTable } from './ExecutionTable'
import { Filters } from './Filters'
import { Histogram } from './Histogram'
import { NoneMatch } from './NoneMatch'
import { type ExecutionSummary, FILTERS } from './summary'

const Execution = lazy(() => import('../execution/Execution').then((module) => module.Execution))
const BulkBar = lazy(() => import('./BulkBar').then((module) => module.BulkBar))
const WhyDrawer = lazy(() => import('./WhyDrawer').then((module) => module.WhyDrawer))
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
  const why = query.value.get('why')
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const next = list.data?.headers.get('x-noetl-next-cursor') ?? undefined
  return (
    <div class="page">
      <div class="list-head">
        <h1>Executions</h1>
        <ColumnChoice />
      </div>
      <Filters />
      <Histogram asked={asked} />
      {query.value.has('job') && <Job />}
      <Panel
        resource={list}
        lines={10}
        isEmpty={({ body }) => body.length === 0}
        missing={list.data?.headers.get('x-noetl-failed-shards') ?? undefined}
        empty={isFiltered ? <NoneMatch asked={asked} /> : <NoneYet />}
      >
        {({ body }) => (
          <HeldRows
            key={path}
            rows={body}
            hasMore={next !== undefined}
            asked={asked}
            isFirstPage={cursor === undefined}
          />
        )}
      </Panel>
      {why !== null && <WhyDrawer key={why} id={why} />}
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
  /** There are older ones. */
  hasMore: boolean
  asked: Record<string, string | undefined>
  isFirstPage: boolean
}

/** Rows change in place; new ones wait behind a button, so that nothing moves under the eye. */
function HeldRows({ rows, hasMore, asked, isFirstPage }: HeldRowsProps) {
  const held = useRef(rows)
  const [, show] = useState(rows)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const kept = stillHeld(held.current, rows, hasMore)
  const list = kept.length === 0 ? rows : kept
  held.current = list
  const shown = new Set(list.map((row) => row.execution_id))
  const fresh = rows.filter((row) => !shown.has(row.execution_id)).length
  // What nobody sees any more is not acted on.
  const chosen = new Set([...shown].filter((id) => ticked.has(id)))
  return (
    <>
      {isFirstPage && fresh > 0 && (
        <button
          type="button"
          class="fresh"
          onClick={() => {
            held.current = rows
            show(rows)
          }}
        >
          Show {fresh === rows.length ? `${fresh} or more` : fresh} new
        </button>
      )}
      {isOperator.value ? (
        <ExecutionTable rows={list} chosen={chosen} onChoose={setTicked} />
      ) : (
        <ExecutionTable rows={list} />
      )}
      {isOperator.value && chosen.size > 0 && (
        <BulkBar
          ids={[...chosen]}
          asked={asked}
          isWholePage={chosen.size === list.length}
          onClear={() => setTicked(new Set())}
        />
      )}
    </>
  )
}

/** As they are now. What is not among the newest any more stays as it was; what does not match any more goes. */
function stillHeld(
  held: readonly ExecutionSummary[],
  rows: readonly ExecutionSummary[],
  hasMore: boolean,
): readonly ExecutionSummary[] {
  const now = new Map(rows.map((row) => [row.execution_id, row]))
  const oldest = BigInt(rows.at(-1)?.execution_id ?? 0)
  return held.flatMap((row) => {
    const isPushedOut = hasMore && BigInt(row.execution_id) < oldest
    return now.get(row.execution_id) ?? (isPushedOut ? row : [])
  })
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
