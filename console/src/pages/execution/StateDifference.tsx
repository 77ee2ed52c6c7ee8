// What differs between two moments of a run: the daemon folds both and compares the two whole states.
import { useRef } from 'preact/hooks'
import { apiPath } from '../../lib/api'
import { type Difference, leavesOf } from '../../lib/difference'
import { getJson } from '../../lib/losslessJson'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { Differences, SHOWN_MAX } from '../../parts/Differences'
import { Panel } from '../../parts/Panel'
import type { Slices } from './slices'

const SIDES = ['Before', 'After'] as const

/** A moment as the daemon reads it; undefined while it is not known which event it is. */
export function wordOf(position: number, slices: Slices): string | undefined {
  if (position === 0) return 'version:0'
  const eventId = slices.peek(position)?.eventId
  return eventId === undefined ? undefined : `event:${eventId}`
}

interface BetweenProps {
  executionId: string
  from: string | undefined
  to: string | undefined
  sides?: readonly [string, string]
}

export function Between({ executionId, from = '', to = '', sides = SIDES }: BetweenProps) {
  const [left, right, ...names] = useRested([from, to, ...sides].join('\n')).split('\n') as [
    string,
    string,
    ...string[],
  ]
  const path = apiPath('/api/replay/diff', { execution_id: executionId, from: left, to: right, ids: 'number' })
  const isKnown = left !== '' && right !== ''
  const diff = useResource(isKnown ? path : null, async (signal) => {
    const { differences } = (await getJson(path, signal)) as unknown as { differences: Difference[] }
    // The daemon tells of a new entity as a whole. No more of them are taken apart than there are lines for.
    const list = differences.slice(0, SHOWN_MAX).flatMap(leavesOf)
    return { list, places: differences.length, sides: names as [string, string] }
  })
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

interface SincePinProps {
  executionId: string
  slices: Slices
  position: number
  pinned: number
}

/** Between the pin and the handle, whichever comes first in the log. */
export function SincePin({ executionId, slices, position, pinned }: SincePinProps) {
  const name = (at: number): string => `At ${whole(at)}${at === pinned ? ', pinned' : ''}`
  const [from, to] = pinned < position ? [pinned, position] : [position, pinned]
  return (
    <Between
      executionId={executionId}
      from={wordOf(from, slices)}
      to={wordOf(to, slices)}
      sides={[name(from), name(to)]}
    />
  )
}

interface StateDifferencesProps {
  list: readonly Difference[]
  places?: number
  sides?: readonly [string, string]
}

export function StateDifferences({ list, places, sides = SIDES }: StateDifferencesProps) {
  return <Differences list={list} places={places} sides={sides} equal="Both states are equal." />
}
