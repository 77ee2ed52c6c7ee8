// Find one run, or all runs of a kind.
import { useEffect, useRef, useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { loadPart } from '../../lib/loadPart'
import { ask, path as place, query } from '../../lib/router'
import { isOperator } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Job } from '../../parts/Job'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Ago } from '../../parts/Time'
import { BulkBar } from './BulkBar'
import { ColumnChoice } from './columns'
import { ExecutionTable } from './ExecutionTable'
import { Filters } from './Filters'
import { Histogram } from './Histogram'
import { NoneMatch } from './NoneMatch'
import { commandOf } from './searchText'
import { type ExecutionSummary, FILTERS } from './summary'

const loadLater = () => import('../later')
const Execution = lazy(() => loadLater().then((module) => module.Execution))
const WhyDrawer = lazy(() => loadLater().then((module) => module.WhyDrawer))

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
  // Whoever looks at the list opens one of them next.
  useEffect(() => void loadPart(loadLater).catch(() => undefined), [])
  const why = query.value.get('why')
  const cli = commandOf({ ...asked, cursor })
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const next = list.data?.headers.get('x-noetl-next-cursor') ?? undefined
  const lookedUntil = list.data?.headers.get('x-noetl-looked-until') ?? undefined
  return (
    <div class="page">
      <div class="list-head">
        <h1>Executions</h1>
        <ColumnChoice />
      </div>
      <Filters />
      <Histogram asked={asked} isReady={list.data !== undefined} />
      <Job />
      <Panel
        resource={list}
        lines={10}
        isEmpty={({ body }) => body.length === 0 && lookedUntil === undefined}
        missing={list.data?.headers.get('x-noetl-failed-shards') ?? undefined}
        empty={isFiltered ? <NoneMatch asked={asked} /> : <NoneYet />}
      >
        {({ body }) => (
          <HeldRows key={path} rows={body} next={next} asked={asked} cursor={cursor} lookedUntil={lookedUntil} />
        )}
      </Panel>
      <SameAct path={path} {...(cli === undefined ? {} : { cli })} />
      {why !== null && <WhyDrawer key={why} id={why} />}
    </div>
  )
}

interface HeldRowsProps {
  rows: readonly ExecutionSummary[]
  /** Where older ones begin, if there are any. */
  next: string | undefined
  asked: Record<string, string | undefined>
  /** Undefined on the first page. */
  cursor: string | undefined
  /** What is older was not looked at. */
  lookedUntil: string | undefined
}

/**
 * Rows change in place; new ones wait behind a button, so that nothing moves under the eye. What comes after the rows that are shown
 * is where it was when they came: by now others may be the last of the newest.
 */
function HeldRows({ rows, next, asked, cursor, lookedUntil }: HeldRowsProps) {
  const held = useRef({ rows, next, lookedUntil })
  const [, show] = useState(rows)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const kept = stillHeld(held.current.rows, rows, next !== undefined)
  const list = kept.length === 0 ? rows : kept
  held.current = kept.length === 0 ? { rows, next, lookedUntil } : { ...held.current, rows: kept }
  const { next: older, lookedUntil: until } = held.current
  const shown = new Set(list.map((row) => row.execution_id))
  const fresh = rows.filter((row) => !shown.has(row.execution_id)).length
  // What nobody sees any more is not acted on.
  const chosen = new Set([...shown].filter((id) => ticked.has(id)))
  return (
    <>
      {cursor === undefined && fresh > 0 && (
        <button
          type="button"
          class="fresh"
          onClick={() => {
            held.current = { rows, next, lookedUntil }
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
      {until !== undefined && (
        <p class="notice" role="status">
          {list.length === 0 && 'Nothing found so far. '}
          Looked at the newest executions, back to <Ago at={until} />. Older ones may match as well.
        </p>
      )}
      <nav class="pages" aria-label="Pages">
        {cursor !== undefined && (
          <button type="button" onClick={() => ask({ cursor: undefined })}>
            Newest
          </button>
        )}
        {older !== undefined && (
          <button type="button" onClick={() => ask({ cursor: older })}>
            {until === undefined ? 'Load older' : 'Look further back'}
          </button>
        )}
      </nav>
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
