// The lanes of one shard, a cell each: in the look of whoever holds it, hatched where nobody does. The mouse, or the arrow keys
// when the strip has the focus, tell of one lane who has it and for how long.
import { useSignal } from '@preact/signals'
import { counted } from '../../lib/counted'
import { LANES } from './instance'
import { type Cell, cellsOf, type Look, rangesText, type Strip } from './laneHolders'

interface LaneStripProps {
  strip: Strip
  shard: number
  looks: ReadonlyMap<string, Look>
}

export function LaneStrip({ strip, shard, looks }: LaneStripProps) {
  const at = useSignal<number | undefined>(undefined)
  const cells = cellsOf(strip.holders)
  const cell = at.value === undefined ? undefined : cells[at.value]
  const told = cell === undefined ? summaryOf(cells) : cellText(cell, cells)
  const move = (event: KeyboardEvent): void => {
    const place = at.peek() ?? (event.key === 'ArrowLeft' ? LANES : -1)
    const next = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: LANES - 1 }[event.key]
    if (next === undefined) return
    // The charts above have the same keys.
    event.stopPropagation()
    event.preventDefault()
    at.value = Math.min(LANES - 1, Math.max(0, next))
  }
  const leave = (): void => {
    at.value = undefined
  }
  return (
    <div class="lanes">
      <div
        class="cells"
        role="slider"
        tabIndex={0}
        aria-label={`Lanes of shard ${shard}, ${strip.name}`}
        aria-valuemin={0}
        aria-valuemax={LANES - 1}
        aria-valuenow={at.value ?? 0}
        aria-valuetext={told}
        onKeyDown={move}
        onBlur={leave}
        onMouseLeave={leave}
        onMouseMove={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          at.value = Math.min(LANES - 1, Math.max(0, Math.floor(((clientX - left) / width) * LANES)))
        }}
      >
        {cells.map(({ lane, owner }) => (
          <i key={lane} class={`${lookClass(owner, looks)}${lane === at.value ? ' chosen' : ''}`} />
        ))}
      </div>
      <span>
        {strip.name} {told}
      </span>
    </div>
  )
}

export function lookClass(owner: string | undefined, looks: ReadonlyMap<string, Look>): string {
  const look = owner === undefined ? undefined : looks.get(owner)
  return look === undefined ? 'lane free' : `lane colour-${look.colour} mark-${look.mark}`
}

function cellText({ lane, owner, leaseSeconds }: Cell, cells: readonly Cell[]): string {
  if (owner === undefined) return `nobody: lane ${lane} is free`
  const all = cells.filter((one) => one.owner === owner).map((one) => one.lane)
  return `${owner}: lane ${lane}, for ${leaseSeconds} s unless it is renewed; holds ${rangesText(all)}`
}

function summaryOf(cells: readonly Cell[]): string {
  const free = cells.filter(({ owner }) => owner === undefined).length
  const held = new Set(cells.map(({ owner }) => owner)).size - (free > 0 ? 1 : 0)
  if (held === 0) return 'nobody'
  return `${counted(held, 'daemon')}${free > 0 ? `; ${counted(free, 'lane')} free` : ''}`
}
