// Find one run, or all runs of a kind.
import { useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { apiPath, get, getAnswer } from '../../lib/api'
import { loadPart } from '../../lib/loadPart'
import { ask, path as place, query } from '../../lib/router'
import { clockText, millisOf } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Command } from '../../parts/Command'
import { Job } from '../../parts/Job'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Told } from '../../parts/Told'
import { BulkBar } from './BulkBar'
import { BulkDialog } from './BulkDialog'
import type { BulkAction, BulkScope } from './bulk'
import { ColumnChoice } from './columns'
import { ExecutionTable } from './ExecutionTable'
import { Filters } from './Filters'
import { Histogram } from './Histogram'
import { NoneMatch } from './NoneMatch'
import { commandOf } from './searchText'
import { type ExecutionSummary, FILTERS, hasEnded } from './summary'

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
  const acting = useSignal<Acting | undefined>(undefined)
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
            onAct={(act) => {
              acting.value = act
            }}
          />
        )}
      </Panel>
      {acting.value !== undefined && (
        <BulkDialog
          {...acting.value}
          onClose={() => {
            acting.value = undefined
          }}
        />
      )}
      <SameAct path={path} {...(cli === undefined ? {} : { cli })} />
      {why !== null && <WhyDrawer key={why} id={why} />}
    </div>
  )
}

interface Acting {
  action: BulkAction
  scope: BulkScope
  onBegun: () => void
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
  onAct: (act: Acting) => void
}

/**
 * Rows change in place; new ones wait behind a button, so that nothing moves under the eye. What comes after the rows that are shown
 * is where it was when they came: by now others may be the last of the newest.
 */
function HeldRows({ rows, isOldestFirst, next, asked, cursor, lookedUntil, onAct }: HeldRowsProps) {
  const held = useRef({ rows, next, lookedUntil })
  const [, show] = useState(rows)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  // What is new comes last where the oldest come first, and pushes nothing out.
  const stood = stillHeld(held.current.rows, rows, next !== undefined && !isOldestFirst)
  const kept = useNewsOf(stood.pushedOut, stood.rows)
  const list = kept.length === 0 ? rows : kept
  held.current = kept.length === 0 ? { rows, next, lookedUntil } : { ...held.current, rows: kept }
  const { next: after, lookedUntil: until } = held.current
  const shown = new Set(list.map((row) => row.execution_id))
  const fresh = rows.filter((row) => !shown.has(row.execution_id)).length
  const clear = (): void => setTicked(new Set())
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
          onClear={clear}
          onAct={(action, scope) => onAct({ action, scope, onBegun: clear })}
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

interface Stood {
  rows: readonly ExecutionSummary[]
  /** Those that newer ones have pushed off the page that is asked for. */
  pushedOut: readonly ExecutionSummary[]
}

/** As they are now; what does not match any more goes. */
function stillHeld(held: readonly ExecutionSummary[], rows: readonly ExecutionSummary[], hasMore: boolean): Stood {
  const now = new Map(rows.map((row) => [row.execution_id, row]))
  const oldest = BigInt(rows.at(-1)?.execution_id ?? 0)
  const isPushedOut = ({ execution_id: id }: ExecutionSummary): boolean =>
    hasMore && !now.has(id) && BigInt(id) < oldest
  return {
    rows: held.flatMap((row) => now.get(row.execution_id) ?? (isPushedOut(row) ? row : [])),
    pushedOut: held.filter(isPushedOut),
  }
}

/** So many are asked for one by one. */
const ASKED_ALONE_MAX = 20

/** What is on the screen and not on the page that is asked for any more goes on as well. */
function useNewsOf(
  pushedOut: readonly ExecutionSummary[],
  rows: readonly ExecutionSummary[],
): readonly ExecutionSummary[] {
  const ids = pushedOut.filter((row) => !hasEnded(row)).map((row) => row.execution_id)
  const asked = ids.slice(0, ASKED_ALONE_MAX)
  const { data } = useResource(
    asked.length === 0 ? null : `rows ${asked.join()}`,
    (signal) => Promise.all(asked.map((id) => get<ExecutionSummary>(`/api/executions/${id}?events=0`, signal))),
    { everyMs: 3_000, topics: ['executions'] },
  )
  const news = new Map(data?.map((row) => [row.execution_id, row]))
  return rows.map((row) => (hasEnded(row) ? row : (news.get(row.execution_id) ?? row)))
}

function NoneYet() {
  return (
    <>
      <h2>No executions yet</h2>
      <p>
        Run an example: <Command words="run examples/hello.yaml" />
      </p>
      <p>
        Or fill the console with a small world: <Command words="demo" />
      </p>
    </>
  )
}
