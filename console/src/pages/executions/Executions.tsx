// Find one run, or all runs of a kind.
import { useEffect, useRef, useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { loadPart } from '../../lib/loadPart'
import { ask, path as place, query } from '../../lib/router'
import { clockText, millisOf } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Job } from '../../parts/Job'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Told } from '../../parts/Told'
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
  const isOldestFirst = query.value.get('order') === 'oldest'
  const order = isOldestFirst ? 'oldest' : undefined
  const path = apiPath('/api/executions', { ...asked, order, cursor })
  const list = useResource(path, (signal) => getAnswer<ExecutionSummary[]>(path, signal), {
    everyMs: 3_000,
    topics: ['executions'],
  })
  // Whoever looks at the list opens one of them next.
  useEffect(() => void loadPart(loadLater).catch(() => undefined), [])
  const why = query.value.get('why')
  const cli = commandOf({ ...asked, order, cursor })
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
          <HeldRows
            key={path}
            rows={body}
            isOldestFirst={isOldestFirst}
            next={next}
            asked={asked}
            cursor={cursor}
            lookedUntil={lookedUntil}
          />
        )}
      </Panel>
      <SameAct path={path} {...(cli === undefined ? {} : { cli })} />
      {why !== null && <WhyDrawer key={why} id={why} />}
    </div>
  )
}

interface HeldRowsProps {
  rows: readonly ExecutionSummary[]
  isOldestFirst: boolean
  /** Where the next page begins, if there is one. */
  next: string | undefined
  asked: Record<string, string | undefined>
  /** Undefined on the first page. */
  cursor: string | undefined
  /** What comes after it was not looked at. */
  lookedUntil: string | undefined
}

/**
 * Rows change in place; new ones wait behind a button, so that nothing moves under the eye. What comes after the rows that are shown
 * is where it was when they came: by now others may be the last of the newest.
 */
function HeldRows({ rows, isOldestFirst, next, asked, cursor, lookedUntil }: HeldRowsProps) {
  const held = useRef({ rows, next, lookedUntil })
  const [, show] = useState(rows)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  // What is new comes last where the oldest come first, and pushes nothing out.
  const kept = stillHeld(held.current.rows, rows, next !== undefined && !isOldestFirst)
  const list = kept.length === 0 ? rows : kept
  held.current = kept.length === 0 ? { rows, next, lookedUntil } : { ...held.current, rows: kept }
  const { next: after, lookedUntil: until } = held.current
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
      <ExecutionTable rows={list} isOldestFirst={isOldestFirst} chosen={chosen} onChoose={setTicked} />
      {chosen.size > 0 && (
        <BulkBar
          ids={[...chosen]}
          asked={asked}
          isWholePage={chosen.size === list.length}
          onClear={() => setTicked(new Set())}
        />
      )}
      {until !== undefined && (
        <p class="notice">
          <Told text={`${list.length === 0 ? 'Nothing found so far. ' : ''}${lookedText(isOldestFirst, until)}`} />
        </p>
      )}
      <nav class="pages" aria-label="Pages">
        {cursor !== undefined && (
          <button type="button" onClick={() => ask({ cursor: undefined })}>
            {isOldestFirst ? 'Oldest' : 'Newest'}
          </button>
        )}
        {after !== undefined && (
          <button type="button" onClick={() => ask({ cursor: after })}>
            {nextText(isOldestFirst, until !== undefined)}
          </button>
        )}
      </nav>
    </>
  )
}

function lookedText(isOldestFirst: boolean, until: string): string {
  const at = clockText(millisOf(until))
  return isOldestFirst
    ? `Looked at the oldest executions, up to ${at}. Newer ones may match as well.`
    : `Looked at the newest executions, back to ${at}. Older ones may match as well.`
}

function nextText(isOldestFirst: boolean, isLooking: boolean): string {
  if (isOldestFirst) return isLooking ? 'Look further on' : 'Load newer'
  return isLooking ? 'Look further back' : 'Load older'
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
