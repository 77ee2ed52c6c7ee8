// What differs between two states of a run. Two places of its log are compared by the daemon from the states that it keeps
// for this page; the stored snapshot with the state that the daemon folds.
import { useRef } from 'preact/hooks'
import { apiPath } from '../../lib/api'
import { type Difference, leavesOf } from '../../lib/difference'
import { getJson, type Json } from '../../lib/losslessJson'
import { whole } from '../../lib/time'
import { type Resource, useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Differences, SHOWN_MAX } from '../../parts/Differences'
import { Panel } from '../../parts/Panel'
import { type Differing, numberOf, type Slices } from './slices'

const SIDES = ['Before', 'After'] as const

type Shown = Parameters<typeof StateDifferences>[0]

interface BetweenProps {
  slices: Slices
  from: number
  to: number
  sides?: readonly [string, string]
}

/** Two positions of the log, the earlier one first. */
export function Between({ slices, from, to, sides = SIDES }: BetweenProps) {
  const [left, right, ...names] = useRested([from, to, ...sides].join('\n')).split('\n') as [
    string,
    string,
    ...string[],
  ]
  const diff = useResource(`${slices.epoch} ${left} ${right}`, async (signal): Promise<Shown> => {
    const differing = await slices.differences(Number(left), Number(right), signal)
    return { ...linesOf(differing), sides: names as [string, string] }
  })
  return <Comparison diff={diff} />
}

interface SinceSnapshotProps {
  executionId: string
  /** Undefined while it is not known which event it is. */
  eventId: string | undefined
}

export function SinceSnapshot({ executionId, eventId }: SinceSnapshotProps) {
  const rested = useRested(eventId)
  const asked = { execution_id: executionId, from: 'snapshot', to: `event:${rested}`, ids: 'string' }
  const path = rested === undefined ? null : apiPath('/api/replay/diff', asked)
  const diff = useResource(path, async (signal): Promise<Shown> => {
    const { differences, count } = (await getJson(path!, signal)) as { [key: string]: Json }
    return linesOf({ differences: differences as unknown as Difference[], count: numberOf(count) })
  })
  return <Comparison diff={diff} />
}

function Comparison({ diff }: { diff: Resource<Shown> }) {
  // What was shown stays while the next is asked for, with the names of what it was between.
  const last = useRef(diff.data)
  last.current = diff.data ?? last.current
  return (
    <div class={diff.data === undefined ? 'old' : ''} aria-busy={diff.data === undefined && diff.error === undefined}>
      <Panel resource={{ ...diff, data: last.current }} lines={8}>
        {(shown) => <StateDifferences {...shown} />}
      </Panel>
    </div>
  )
}

/** The daemon tells of a new entity as a whole. No more of them are taken apart than there are lines for. */
function linesOf({ differences, count }: Differing): Pick<Shown, 'list' | 'places'> {
  return { list: differences.slice(0, SHOWN_MAX).flatMap(leavesOf), places: count }
}

interface SincePinProps {
  slices: Slices
  position: number
  pinned: number
}

/** Between the pin and the handle, whichever comes first in the log. */
export function SincePin({ slices, position, pinned }: SincePinProps) {
  const name = (at: number): string => `At ${whole(at)}${at === pinned ? ', pinned' : ''}`
  const [from, to] = pinned < position ? [pinned, position] : [position, pinned]
  return <Between slices={slices} from={from} to={to} sides={[name(from), name(to)]} />
}

interface StateDifferencesProps {
  list: readonly Difference[]
  places?: number
  sides?: readonly [string, string]
}

export function StateDifferences({ list, places, sides = SIDES }: StateDifferencesProps) {
  return <Differences list={list} places={places} sides={sides} equal="Both states are equal." />
}
