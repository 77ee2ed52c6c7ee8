// Scrubber, timeline and the tabs that follow the handle.
import { effect } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { ApiError } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useAskAgain } from '../../lib/useAskAgain'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { Told } from '../../parts/Told'
import type { ExecutionSummary } from '../executions/summary'
import { GraphTab } from '../graph/GraphTab'
import { axisOf, chosenAxis, view, viewOf, viewText } from './axis'
import { ChangesTab } from './ChangesTab'
import { forgetCursor, isAheadOfAddress, newlyAsked, pin, positionAt, readCursor } from './cursor'
import { EventDetail } from './EventDetail'
import { EventsTab } from './EventsTab'
import { Life } from './Life'
import { chosenEntity, lifeOf } from './life'
import { MomentTab } from './MomentTab'
import { OutboxTab } from './OutboxTab'
import { RawTab } from './RawTab'
import { Scrubber } from './Scrubber'
import { StateTab } from './StateTab'
import { Timeline } from './Timeline'
import type { RunTape } from './tape'
import { useMoment } from './useMoment'
import { useSnapshots } from './useSnapshots'
import { DRAWN_MAX, useTape } from './useTape'
import { WhyTab } from './WhyTab'

const TABS: readonly Tab[] = [
  { id: 'moment', name: 'State here' },
  { id: 'changes', name: 'Changes' },
  { id: 'event', name: 'Event' },
  { id: 'graph', name: 'Graph' },
  { id: 'events', name: 'Events' },
  { id: 'state', name: 'Live state' },
  { id: 'why', name: 'Why' },
  { id: 'outbox', name: 'Outbox' },
  { id: 'raw', name: 'Raw' },
]

/** Whose content is that of the handle; the state says itself how it stands. */
const AT_HANDLE: ReadonlySet<string> = new Set(['changes', 'event', 'raw'])

const NOTHING_YET = <div class="empty">Nothing has happened yet.</div>

export function Replay({ run }: { run: ExecutionSummary }) {
  const { run: loaded, overview, error, reload } = useTape(run.execution_id, run.event_count)
  const tape = loaded ?? overview
  const [readEpoch, setReadEpoch] = useState<string>()
  /** Why the moment that the address names is not shown. */
  const [lost, setLost] = useState<ApiError>()
  const [round, setRound] = useState(0)
  const again = (): void => setRound((before) => before + 1)
  useAskAgain(lost, again)
  const epoch = tape?.epoch
  useLayoutEffect(keepViewInAddress, [])
  // The address names events: where they are is asked once, and again when places have moved or it names others.
  const asked = newlyAsked()
  useEffect(() => {
    if (epoch === undefined || (epoch === readEpoch && asked === '')) return
    // Where somebody has gone meanwhile counts for more than where the address was left.
    if (readEpoch !== undefined && asked === '' && isAheadOfAddress()) {
      setReadEpoch(epoch)
      return
    }
    const control = new AbortController()
    readCursor(run.execution_id, control.signal).then(
      () => {
        if (control.signal.aborted) return
        setLost(undefined)
        setReadEpoch(epoch)
      },
      (reason: unknown) => {
        if (control.signal.aborted) return
        setLost(reason instanceof ApiError ? reason : new ApiError(String(reason), -1, ''))
        // A moment that is not in this log stays away; what had no answer is asked again.
        if (isUnknown(reason)) {
          forgetCursor()
          setReadEpoch(epoch)
        }
      },
    )
    return () => control.abort()
  }, [epoch, asked, round])
  return (
    <>
      {error !== undefined && (
        <p class="notice stale" role="status">
          The log could not be loaded: {error.message}{' '}
          <button type="button" class="link" onClick={reload}>
            Try again
          </button>
        </p>
      )}
      {lost !== undefined && (
        <p class="notice stale" role="status">
          The moment of this link could not be found: {lost.message}{' '}
          {!isUnknown(lost) && (
            <button type="button" class="link" onClick={again}>
              Try again
            </button>
          )}
        </p>
      )}
      {tape === undefined || readEpoch === undefined ? (
        <div class="skeleton scrub-skeleton" aria-busy="true" />
      ) : (
        <Moments run={run} tape={tape} reload={reload} />
      )}
    </>
  )
}

/** The daemon has looked, and there is no such event. */
function isUnknown(reason: unknown): boolean {
  return reason instanceof ApiError && reason.status >= 400 && reason.status < 500
}

function drawnSoFar({ length, total }: RunTape): string {
  if (length < total)
    return `${whole(length)} of ${whole(total)} events are drawn so far; the list of events has all of them.`
  return total > DRAWN_MAX
    ? `An overview: above ${whole(DRAWN_MAX)} events bars and failures stand for parts of the log. State, checksum and events are those of each event.`
    : 'An overview; the events themselves are on their way.'
}

function NoGraph({ tape }: { tape: RunTape }) {
  if (tape.total <= DRAWN_MAX) return <div class="skeleton" aria-busy="true" />
  return (
    <div class="empty">
      The graph is made from the single events, of which this log has more than {whole(DRAWN_MAX)}. Its document is in
      the catalog, and <b>State here</b> has what every step has become.
    </div>
  )
}

const REST_MS = 250

/** A link shows the same part, and so does the way back; a zoom is written down once it rests. */
function keepViewInAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  /** What the address said when it was read or written last. */
  let known: string | null | undefined
  const read = effect(() => {
    const said = query.value.get('zoom')
    if (said === known) return
    known = said
    view.value = viewOf(said)
  })
  const forget = view.subscribe((shown) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      known = viewText(shown) ?? null
      ask({ zoom: viewText(shown) }, { replace: true })
    }, REST_MS)
  })
  return () => {
    clearTimeout(timer)
    read()
    forget()
  }
}

function Moments({ run, tape, reload }: { run: ExecutionSummary; tape: RunTape; reload: () => void }) {
  const kind = chosenAxis()
  const axis = useMemo(() => axisOf(kind, tape), [kind, tape])
  const position = positionAt(tape.length)
  const snapshots = useSnapshots(run.execution_id, tape)
  const entity = tape.isCoarse ? undefined : chosenEntity()
  const life = useMemo(() => (entity === undefined ? undefined : lifeOf(tape, entity)), [tape, entity])
  const tab = chosenTab(TABS)
  const here = useMoment(run.execution_id, tape, { position, before: tab === 'changes' }, reload)
  const lacksBefore = tab === 'changes' && position > 0 && here.before === undefined
  const isLacking = AT_HANDLE.has(tab) && (!here.isExact || lacksBefore)
  return (
    <>
      <Scrubber
        run={tape}
        axis={axis}
        position={position}
        slice={here.isExact ? here.slice : undefined}
        snapshots={snapshots}
        life={life}
      />
      <Timeline run={tape} axis={axis} position={position} />
      {(tape.isCoarse || tape.length < tape.total) && (
        <p class="notice partial">
          <Told text={drawnSoFar(tape)} />
        </p>
      )}
      {entity !== undefined && <Life run={tape} entity={entity} life={life} position={position} />}
      <Tabs tabs={TABS} label="About this execution" />
      {here.error !== undefined && isLacking && (
        <p class="notice stale" role="status">
          What is at the handle could not be asked for: {here.error.message}{' '}
          <button type="button" class="link" onClick={here.askAgain}>
            Try again
          </button>
        </p>
      )}
      {tabOf()}
    </>
  )

  function tabOf() {
    const id = run.execution_id
    const eventId = position === 0 ? undefined : here.slice?.eventId
    switch (tab) {
      case 'changes':
        return <ChangesTab executionId={id} here={here} position={position} end={tape.length} pinned={pin.value} />
      case 'event':
        return eventId === undefined ? NOTHING_YET : <EventDetail executionId={id} eventId={eventId} />
      case 'graph':
        return tape.isCoarse ? <NoGraph tape={tape} /> : <GraphTab run={run} tape={tape} position={position} />
      case 'events':
        return <EventsTab run={run} tape={tape} />
      case 'state':
        return <StateTab run={run} />
      case 'why':
        return <WhyTab run={run} />
      case 'outbox':
        return <OutboxTab executionId={id} />
      case 'raw':
        return eventId === undefined ? NOTHING_YET : <RawTab executionId={id} eventId={eventId} />
      default:
        return <MomentTab executionId={id} total={tape.total} here={here} position={position} pinned={pin.value} />
    }
  }
}
