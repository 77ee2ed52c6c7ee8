// How many commands, or steps, there are at the handle, and how they stand; the legend of the bars below.
import { whole } from '../../lib/time'
import { Glyph } from '../../parts/Status'
import { COUNTED, type Counts } from './counts'

/** Undefined: they are not known yet. */
export function Counters({ what, counts }: { what: string; counts: Counts | undefined }) {
  return (
    <dl class="counters" aria-label={`Here by status: ${what}`}>
      <div>
        <dt>{what}</dt>
        <dd>{counts === undefined ? '…' : whole(COUNTED.reduce((sum, kind) => sum + counts[kind], 0))}</dd>
      </div>
      {COUNTED.map((kind) => (
        <div key={kind} class={counts?.[kind] === 0 ? 'none' : ''}>
          <dt>
            <Glyph kind={kind} />
            {kind}
          </dt>
          <dd>{counts === undefined ? '…' : whole(counts[kind])}</dd>
        </div>
      ))}
    </dl>
  )
}
