// One handle for both runs: it moves through the first, the second follows.
import { useKeys } from '../../lib/keys'
import { ask } from '../../lib/router'
import { lasted, whole } from '../../lib/time'
import { momentAt, type RunTape } from '../execution/tape'
import type { Alignment } from './counterpart'

interface SharedCursorProps {
  a: RunTape
  b: RunTape
  positions: readonly [number, number]
  by: Alignment
  onMove: (position: number) => void
}

const ALIGNMENTS: readonly { id: Alignment; name: string; meaning: string }[] = [
  { id: 'step', name: 'same step', meaning: 'B stands where the same thing happened' },
  { id: 'offset', name: 'same offset', meaning: 'B stands as much time after its start' },
]

export function SharedCursor({ a, b, positions, by, onMove }: SharedCursorProps) {
  const [at] = positions
  const go = (position: number): void => onMove(Math.max(0, Math.min(a.length, position)))
  useKeys({
    ArrowLeft: (event) => go(at - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => go(at + (event.shiftKey ? 10 : 1)),
    Home: () => go(0),
    End: () => go(a.length),
  })
  return (
    <section class="shared-cursor" aria-label="Cursor over both">
      <div class="shared-bar">
        <input
          type="range"
          aria-label="Position in A"
          min={0}
          max={a.length}
          value={at}
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
        <span class="buttons">
          {ALIGNMENTS.map(({ id, name, meaning }) => (
            <button
              key={id}
              type="button"
              title={meaning}
              aria-pressed={id === by}
              onClick={() => ask({ by: id === 'step' ? undefined : id }, { replace: true })}
            >
              {name}
            </button>
          ))}
        </span>
      </div>
      <table class="wide rows">
        <thead>
          <tr>
            <th>Run</th>
            <th class="number">Event</th>
            <th>Type</th>
            <th>Step</th>
            <th class="number">After its start</th>
          </tr>
        </thead>
        <tbody>
          <MomentRow name="A" run={a} position={positions[0]} />
          <MomentRow name="B" run={b} position={positions[1]} />
        </tbody>
      </table>
    </section>
  )
}

function MomentRow({ name, run, position }: { name: string; run: RunTape; position: number }) {
  const moment = momentAt(run, position)
  const start = momentAt(run, 1)
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td class="number" data-name="Event">
        {whole(position)} <span class="muted">of {whole(run.length)}</span>
      </td>
      <td>{moment === undefined ? <span class="muted">before the first event</span> : moment.type}</td>
      <td class="ellipsis" title={moment?.step ?? undefined}>
        {moment?.step ?? '–'}
      </td>
      <td class="number" data-name="After its start">
        {moment === undefined || start === undefined ? '–' : lasted(Math.max(0, moment.at - start.at))}
      </td>
    </tr>
  )
}
