// Both runs on one cursor: how each step ended, where both stand, and what the events there carry.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useRested } from '../../lib/useRested'
import type { RunTape } from '../execution/tape'
import { DRAWN_MAX } from '../execution/useTape'
import { type AlignedStep, align, endOf } from './alignment'
import { counterpart, happeningsOf } from './counterpart'
import { PayloadDiff } from './PayloadDiff'
import { SharedCursor } from './SharedCursor'
import { Steps } from './Steps'
import { useFirstResult } from './useFirstResult'

interface TogetherProps {
  ids: readonly [string, string]
  a: RunTape
  b: RunTape
}

export function Together({ ids, a, b }: TogetherProps) {
  const steps = useMemo(() => align(a, b), [a, b])
  const [left, right] = useMemo(() => [happeningsOf(a), happeningsOf(b)], [a, b])
  const first = steps.find(({ isDifferent }) => isDifferent)
  const result = useFirstResult(left, right)
  const [chosen, setChosen] = useState(placeOf(query.value.get('at')))
  const rested = useRested(chosen)
  useEffect(() => ask({ at: rested === undefined ? undefined : String(rested) }, { replace: true }), [rested])
  const isOverview = a.isCoarse || b.isCoarse
  const by = isOverview || query.value.get('by') === 'offset' ? 'offset' : 'step'
  const at = Math.min(a.length, chosen ?? beginning(a, b, first) ?? result.position ?? a.length)
  const other = useMemo(() => counterpart(left, right, at, by), [left, right, at, by])
  return (
    <>
      <p class="compared" role="status">
        {first === undefined ? 'Every step went the same way.' : `They part at the step ${first.name}.`} {result.said}
      </p>
      {isOverview && (
        <p class="notice partial">
          Above {whole(DRAWN_MAX)} events whole steps are compared, not their commands and results, and the cursor goes
          by time.
        </p>
      )}
      <Steps steps={steps} a={a} b={b} positions={[at, other]} onChoose={(step) => setChosen(endOf(a, step))} />
      <SharedCursor a={a} b={b} positions={[at, other]} by={by} onMove={setChosen} />
      <PayloadDiff a={{ executionId: ids[0], position: at }} b={{ executionId: ids[1], position: other }} />
    </>
  )
}

function placeOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** The end of the first step that both have and that went another way. */
function beginning(a: RunTape, b: RunTape, first: AlignedStep | undefined): number | undefined {
  if (first?.a === undefined || first.b === undefined) return undefined
  return endOf(b, first.name) === undefined ? undefined : endOf(a, first.name)
}
