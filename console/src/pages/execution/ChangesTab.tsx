// What is different at the handle: against the event before, which is what the event has touched, or against the moment that
// is pinned, the end of the log or the snapshot.
import { counted } from '../../lib/counted'
import { type Difference, differencesOf, leavesOf } from '../../lib/difference'
import { pointerTo } from '../../lib/jsonSearch'
import { ask, query } from '../../lib/router'
import { Between, SincePin, SinceSnapshot, StateDifferences } from './StateDifference'
import type { Slice } from './slices'
import type { Here } from './useMoment'

interface ChangesTabProps {
  executionId: string
  here: Here
  position: number
  /** The end of the log. */
  end: number
  pinned: number | undefined
}

/** By the word in the address. */
const SIDES = {
  before: 'since the event before',
  pin: 'since the pin',
  now: 'until now',
  snapshot: 'since the snapshot',
} as const
type Side = keyof typeof SIDES

export function ChangesTab({ executionId, here, position, end, pinned }: ChangesTabProps) {
  const sides = (Object.keys(SIDES) as Side[]).filter((side) => side !== 'pin' || pinned !== undefined)
  // Who has pinned a moment wants to compare with it.
  const usual: Side = pinned === undefined ? 'before' : 'pin'
  const chosen = sides.find((side) => side === query.value.get('against')) ?? usual
  return (
    <>
      <div class="filters">
        {sides.map((side) => (
          <button
            key={side}
            type="button"
            class="chip"
            aria-pressed={side === chosen}
            onClick={() => ask({ against: side === usual ? undefined : side }, { replace: true })}
          >
            {SIDES[side]}
          </button>
        ))}
      </div>
      {changes()}
    </>
  )

  function changes() {
    const { slices } = here
    if (chosen === 'pin') return <SincePin slices={slices} position={position} pinned={pinned!} />
    if (position === 0) return <div class="empty">There is nothing before the first event to compare with.</div>
    if (chosen === 'now') return <Between slices={slices} from={position} to={end} />
    if (chosen === 'snapshot') {
      return <SinceSnapshot executionId={executionId} eventId={slices.peek(position)?.eventId} />
    }
    return <SinceLastEvent here={here} />
  }
}

function SinceLastEvent({ here: { slice, before, error } }: { here: Here }) {
  if (slice === undefined || before?.position !== slice.position - 1) {
    // Above it is said why, and what can be done.
    return error === undefined ? <div class="skeleton" aria-busy="true" /> : null
  }
  const left = slice.touchedCount - slice.touched.length
  return (
    <>
      <StateDifferences list={changesBetween(before, slice)} />
      {left > 0 && <p class="muted">and in {counted(left, 'more entity', 'more entities')}, which the state has</p>}
    </>
  )
}

function changesBetween(before: Slice, slice: Slice): Difference[] {
  const ofEntities = slice.touched.flatMap(({ surface, key, before: was, after }) =>
    leavesOf({ pointer: pointerTo(`/${surface}`, key), from: was ?? undefined, to: after }),
  )
  return [...ofEntities, ...differencesOf(before.head, slice.head, '')]
}
