// The first result of two runs that differs, looked for when both are there and further when they have gone on.
import { useMemo, useRef } from 'preact/hooks'
import { useResource } from '../../lib/useResource'
import type { Happenings } from './counterpart'
import { type Compared, compareResults, resultName, resultPairs } from './results'

export interface FirstResult {
  /** Where it is in the first run; undefined: not found. */
  position: number | undefined
  /** One sentence; empty while it is looked for. */
  said: string
}

export function useFirstResult(left: Happenings, right: Happenings): FirstResult {
  const { pairs, hasMore } = useMemo(() => resultPairs(left, right), [left, right])
  const epochs = `${left.run.epoch} ${right.run.epoch}`
  // What was found holds as long as places do not move; runs that go on are looked at further.
  const known = useRef({ epochs, same: 0, isDifferent: false })
  if (known.current.epochs !== epochs) known.current = { epochs, same: 0, isDifferent: false }
  const { data, error } = useResource(
    known.current.isDifferent ? null : `results ${epochs} ${pairs.length}`,
    async (signal) => {
      const found = await compareResults([left, right], pairs, known.current.same, signal)
      known.current = { epochs, ...found }
      return found
    },
  )
  const { same, isDifferent } = known.current
  const other = isDifferent ? pairs[same] : undefined
  if (other !== undefined)
    return { position: other.a, said: `The first result that differs is that of ${resultName(left, other.a)}.` }
  return { position: undefined, said: error === undefined ? saidOf(data, pairs.length, hasMore) : UNKNOWN }
}

const UNKNOWN = 'Their results could not be compared.'

function saidOf(found: Compared | undefined, pairs: number, hasMore: boolean): string {
  if (found === undefined || pairs === 0) return ''
  return hasMore || found.same < pairs
    ? `The first ${found.same} results are the same; later ones were not compared.`
    : 'Where both gave a result, it is the same.'
}
