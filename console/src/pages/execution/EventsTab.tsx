// The log of one run: any number of events, in the order of the fold, with filters; one of them whole beside the list.

import { apiPath, get } from '../../lib/api'
import { counted } from '../../lib/counted'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { clockText, millisOf, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Glyph, kindOf } from '../../parts/Status'
import { Exact } from '../../parts/Time'
import { VirtualRows } from '../../parts/VirtualRows'
import type { ExecutionSummary } from '../executions/summary'
import { moveTo } from './cursor'
import { EventDetail } from './EventDetail'
import type { RunTape } from './tape'

export interface WindowEvent {
  position: number
  event_id: string
  stream_version: string | null
  event_type: string
  node_name: string | null
  status: string | null
  worker_id: string | null
  timestamp: string
  error: string | null
}

interface Window {
  total: number
  events: WindowEvent[]
}

const ROW_HEIGHT = 28
const HEADINGS = ['Position', 'Time', 'Type', 'Step', 'Status', 'What went wrong']
/** Who wants one of more writes a part of it. */
const NAMES_MAX = 500

export function EventsTab({ run, tape }: { run: ExecutionSummary; tape: RunTape }) {
  const [status, q, type, step] = ['event_status', 'find', 'event_type', 'event_step'].map(
    (name) => query.value.get(name) ?? '',
  )
  const asked = { status, q, type, step }
  const base = `/api/executions/${run.execution_id}/events`
  const subject = apiPath(base, asked)
  const total = useResource(
    subject,
    async (signal) => (await get<Window>(apiPath(base, { ...asked, limit: 0 }), signal)).total,
    { version: run.event_count },
  )
  const chosen = query.value.get('event') ?? undefined
  useKeys(chosen === undefined ? {} : { Escape: () => ask({ event: undefined }) })
  return (
    <>
      <div class="filters">
        <button
          type="button"
          class="chip failed"
          aria-pressed={asked.status === 'failed'}
          onClick={() => ask({ event_status: asked.status === 'failed' ? undefined : 'failed' })}
        >
          <Glyph kind="failed" />
          failed only
        </button>
        <input
          key={asked.q}
          type="search"
          class="wide"
          aria-label="Find events"
          placeholder="Type, step, worker, error or event id"
          defaultValue={asked.q}
          onChange={(event) => ask({ find: event.currentTarget.value.trim() })}
        />
        <OneOf name="type" names={tape.tape.head.types} />
        <OneOf name="step" names={tape.tape.head.steps} />
        <OneOf name="status" names={statusesOf(tape)} />
        <span class="muted">{total.data === undefined ? '' : counted(total.data, 'event')}</span>
      </div>
      <div class={chosen === undefined ? 'beside' : 'beside open'}>
        <Panel
          resource={total}
          isEmpty={(count) => count === 0}
          empty={<p>{Object.values(asked).join('') === '' ? 'This execution has no events.' : 'No event matches.'}</p>}
        >
          {(count) => (
            <VirtualRows<WindowEvent>
              label="Events"
              headings={HEADINGS}
              // An event that comes late moves the places of those after it.
              subject={`${tape.epoch} ${subject}`}
              total={count}
              height={ROW_HEIGHT}
              load={async (from, limit, signal) =>
                (await get<Window>(apiPath(base, { ...asked, from: from + 1, limit }), signal)).events
              }
              row={(event) => (
                <EventCells
                  event={event}
                  isChosen={event?.event_id === chosen}
                  onChoose={({ event_id: id, position }) => {
                    moveTo(position, tape.length)
                    ask({ event: id })
                  }}
                />
              )}
            />
          )}
        </Panel>
        {chosen !== undefined && <EventDetail executionId={run.execution_id} eventId={chosen} />}
      </div>
    </>
  )
}

/** As they are asked for, whatever the writers of events call them. */
function statusesOf({ tape }: RunTape): readonly string[] {
  return [...new Set([...tape.head.statuses.map((status) => status.toLowerCase()), 'failed'])]
}

/** Names of the tape, of which the first is none. */
function OneOf({ name, names }: { name: 'type' | 'step' | 'status'; names: readonly string[] }) {
  const asked = `event_${name}`
  return (
    <select
      aria-label={`Only of one ${name}`}
      value={query.value.get(asked) ?? ''}
      onChange={({ currentTarget }) => ask({ [asked]: currentTarget.value })}
    >
      <option value="">every {name}</option>
      {names.slice(1, NAMES_MAX).map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  )
}

interface EventCellsProps {
  event: WindowEvent | undefined
  isChosen: boolean
  onChoose: (event: WindowEvent) => void
}

function EventCells({ event, isChosen, onChoose }: EventCellsProps) {
  if (event === undefined) return <td class="muted">…</td>
  const kind = /fail|error/i.test(`${event.event_type} ${event.status}`) ? 'failed' : kindOf(event.status ?? '')
  return (
    <>
      <td class="muted">
        <button type="button" class="opener" aria-pressed={isChosen} onClick={() => onChoose(event)}>
          {whole(event.position)}
          <span class="visually-hidden"> {event.event_type}</span>
        </button>
      </td>
      <td class="mono">
        <Exact at={event.timestamp}>{clockText(millisOf(event.timestamp), 3).slice(11)}</Exact>
      </td>
      <td class={`event-type ${kind === 'failed' ? 'failed' : ''}`}>
        {kind === 'failed' && <Glyph kind="failed" />}
        {event.event_type}
      </td>
      <td class="ellipsis">{event.node_name}</td>
      <td class="muted ellipsis">{event.status?.toLowerCase()}</td>
      <td class="ellipsis failed">{event.error}</td>
    </>
  )
}
