// Scrubber, timeline and the tabs that follow the cursor.
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { query } from '../../lib/router'
import { whole } from '../../lib/time'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import type { ExecutionSummary } from '../executions/summary'
import { axisOf } from './axis'
import { ChangesTab } from './ChangesTab'
import { pin, positionAt, readCursor } from './cursor'
import { EventDetail } from './EventDetail'
import { EventsTab } from './EventsTab'
import { MomentTab } from './MomentTab'
import { Scrubber } from './Scrubber'
import { StateTab } from './StateTab'
import { Timeline } from './Timeline'
import { DRAWN_MAX, useRecord } from './useRecord'
import { WhyTab } from './WhyTab'

const TABS: readonly Tab[] = [
  { id: 'moment', name: 'State here' },
  { id: 'changes', name: 'Changes' },
  { id: 'event', name: 'Event' },
  { id: 'events', name: 'Events' },
  { id: 'state', name: 'Live state' },
  { id: 'why', name: 'Why' },
]

export function Replay({ run }: { run: ExecutionSummary }) {
  const { record, isLoading, error } = useRecord(run.execution_id, run.event_count)
  const { moments } = record
  const kind = query.value.get('axis') === 'time' ? 'time' : 'event'
  const axis = useMemo(() => axisOf(kind, moments), [kind, moments])
  const isRead = useRef(false)
  useEffect(() => {
    if (isRead.current || isLoading) return
    isRead.current = true
    readCursor(moments)
  }, [isLoading, moments])
  const position = positionAt(moments.length)
  const idAt = (place: number): string | undefined => moments[place - 1]?.eventId
  const momentAt = (place: number): string | undefined => (place > 0 ? `event:${idAt(place)}` : undefined)
  return (
    <>
      <Scrubber record={record} axis={axis} total={run.event_count} />
      {run.event_count > DRAWN_MAX && (
        <p class="notice partial">
          The first {whole(Math.min(moments.length, DRAWN_MAX))} of {whole(run.event_count)} events are drawn; the list
          of events has all of them.
        </p>
      )}
      {error !== undefined && <p class="notice stale">The log could not be loaded: {error.message}</p>}
      <Timeline record={record} axis={axis} />
      <Tabs tabs={TABS} label="About this execution" />
      {tabOf()}
    </>
  )

  function tabOf() {
    const id = run.execution_id
    const eventId = idAt(position)
    switch (chosenTab(TABS)) {
      case 'changes':
        return <ChangesTab executionId={id} from={momentAt(pin.value ?? position - 1)} to={momentAt(position)} />
      case 'event':
        return eventId === undefined ? null : <EventDetail executionId={id} eventId={eventId} />
      case 'events':
        return <EventsTab run={run} />
      case 'state':
        return <StateTab run={run} />
      case 'why':
        return <WhyTab run={run} />
      default:
        return <MomentTab executionId={id} eventId={eventId} />
    }
  }
}
