// How many commands stand how at the handle; the legend of the bars below.
import { whole } from '../../lib/time'
import { Glyph } from '../../parts/Status'
import { COUNTED, countsAt, type RunTape } from './tape'

export function Counters({ run, position }: { run: RunTape; position: number }) {
  const { what, counts } = countsAt(run, position)
  return (
    <dl class="counters" aria-label={`Here by status: ${what}`}>
      {COUNTED.map((kind) => (
        <div key={kind} class={counts[kind] === 0 ? 'none' : ''}>
          <dt>
            <Glyph kind={kind} />
            {kind}
          </dt>
          <dd>{whole(counts[kind])}</dd>
        </div>
      ))}
    </dl>
  )
}
