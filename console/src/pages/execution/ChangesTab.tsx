// What is different at the handle: against the event before, which is what the event has touched, or against the moment that
// is pinned, the end of the log or the snapshot, for which the daemon compares two whole states.
import { apiPath } from '../../lib/api'
import { type Difference, differencesOf } from '../../lib/difference'
import { getJson, isBranch, type Json } from '../../lib/losslessJson'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Differences } from '../../parts/Differences'
import { Panel } from '../../parts/Panel'
import type { Slice } from './slices'
import type { Here } from './useMoment'

interface ChangesTabProps {
  executionId: string
  here: Here
  position: number
  pinned: number | undefined
}

/** By the word in the address. */
const SIDES = { before: 'since the event before', now: 'until now', snapshot: 'since the snapshot' } as const
type Side = keyof typeof SIDES

export function ChangesTab({ executionId, here, position, pinned }: ChangesTabProps) {
  const asked = query.value.get('against')
  const side: Side = asked === 'now' || asked === 'snapshot' ? asked : 'before'
  return (
    <>
      <div class="filters">
        {Object.entries(SIDES).map(([id, name]) => (
          <button
            key={id}
            type="button"
            class="chip"
            aria-pressed={side === id}
            onClick={() => ask({ against: id === 'before' ? undefined : id }, { replace: true })}
          >
            {id === 'before' && pinned !== undefined ? 'since the pin' : name}
          </button>
        ))}
      </div>
      {changes()}
    </>
  )

  function changes() {
    const idAt = (place: number): string | undefined => here.slices.peek(place)?.eventId
    if (position === 0) return <div class="empty">There is nothing before the first event to compare with.</div>
    const now = momentOf(idAt(position))
    if (side === 'now') return <Between executionId={executionId} from={now} to="now" />
    if (side === 'snapshot') return <Between executionId={executionId} from="snapshot" to={now} />
    if (pinned === undefined || pinned === position) return <SinceLastEvent here={here} />
    if (pinned === 0) return <div class="empty">At the pin nothing had happened: all of the state is new.</div>
    return <Between executionId={executionId} from={momentOf(idAt(pinned))} to={now} />
  }
}

/** As the daemon reads it; empty while it is not known. */
function momentOf(eventId: string | undefined): string {
  return eventId === undefined ? '' : `event:${eventId}`
}

function SinceLastEvent({ here: { slice, before } }: { here: Here }) {
  if (slice === undefined || before?.position !== slice.position - 1) return <div class="skeleton" aria-busy="true" />
  const left = slice.touchedCount - slice.touched.length
  return (
    <>
      <StateDifferences list={changesBetween(before, slice)} />
      {left > 0 && <p class="muted">and in {whole(left)} more entities, which the state has</p>}
    </>
  )
}

function changesBetween(before: Slice, slice: Slice): Difference[] {
  const ofEntities = slice.touched.flatMap(({ surface, key, before: was, after }) => {
    const pointer = `/${surface}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    // Of something new, what it has; a long list of what it has not says nothing.
    return was === null
      ? differencesOf(undefined, after, pointer).filter(({ to }) => !isNothing(to))
      : differencesOf(was, after, pointer)
  })
  return [...ofEntities, ...differencesOf(before.head, slice.head, '')]
}

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || (isBranch(value) && Object.keys(value).length === 0)
}

function Between({ executionId, from, to }: { executionId: string; from: string; to: string }) {
  const rested = useRested(`${from} ${to}`)
  const [left, right] = rested.split(' ') as [string, string]
  const path = apiPath('/api/replay/diff', { execution_id: executionId, from: left, to: right, ids: 'number' })
  const diff = useResource(left === '' || right === '' ? null : path, (signal) => getJson(path, signal))
  const listOf = (answer: Json): Difference[] => (answer as unknown as { differences: Difference[] }).differences
  return (
    <Panel resource={diff} lines={8}>
      {(answer) => <StateDifferences list={listOf(answer)} />}
    </Panel>
  )
}

function StateDifferences({ list }: { list: readonly Difference[] }) {
  return <Differences list={list} sides={['Before', 'After']} equal="Both states are equal." />
}
