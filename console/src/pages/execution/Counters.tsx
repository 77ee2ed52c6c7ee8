// How many commands stand how at the handle; the legend of the bars below.
import { useMemo } from 'preact/hooks'
import { whole } from '../../lib/time'
import { Glyph } from '../../parts/Status'
import { COUNTED, countedOf, countsAt } from './counts'
import type { RunTape } from './tape'

export function Counters({ run, position }: { run: RunTape; position: number }) {
  const counted = useMemo(() => countedOf(run), [run])
  const counts = countsAt(counted, position)
  return (
    <dl class="counters" aria-label={`Here by status: ${counted.what}`}>
      {COUNTED.map((kind) => (
        <div key={kind} class={counts[kind] === 0 ? 'none' : ''}>
          <dt>
            <Glyph kind={kind} />
            {kind}
          </dt>
          <dd>{run.isCoarse ? '…' : whole(counts[kind])}</dd>
        </div>
      ))}
    </dl>
  )
}
