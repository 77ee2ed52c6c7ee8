// Many things of one kind as a field of cells, each as it stands at the handle. Where there are more than cells, a cell has several
// and shows the worst of them.
import { colorOf } from '../../lib/theme'
import type { StatusKind } from '../../parts/Status'
import type { Pen } from './useCanvas'

const LARGEST = 14
const SMALLEST = 5
const GAP = 1

export interface Field {
  /** Pixels of a cell, with the gap to the next. */
  size: number
  columns: number
  /** Things in a cell. */
  share: number
}

/** The largest cells that have room. */
export function fieldOf(count: number, width: number, height: number): Field {
  for (let size = LARGEST; size > SMALLEST; size--) {
    const columns = Math.floor(width / size)
    if (columns > 0 && Math.ceil(count / columns) * size <= height) return { size, columns, share: 1 }
  }
  const columns = Math.max(1, Math.floor(width / SMALLEST))
  return { size: SMALLEST, columns, share: Math.ceil(count / (columns * Math.floor(height / SMALLEST))) }
}

/** The first thing of the cell there; undefined beside all of them. */
export function thingAt({ size, columns, share }: Field, count: number, x: number, y: number): number | undefined {
  const column = Math.floor(x / size)
  const first = (Math.floor(y / size) * columns + column) * share
  return column < columns && first < count ? first : undefined
}

/** From the least to the worst. */
const WORSE: readonly (StatusKind | undefined)[] = [undefined, 'cancelled', 'completed', 'waiting', 'running', 'failed']

export function drawCells(pen: Pen, count: number, kindOf: (thing: number) => StatusKind | undefined): void {
  const { context, width, height } = pen
  const { size, columns, share } = fieldOf(count, width, height)
  context.fillStyle = colorOf('bg')
  context.fillRect(0, 0, width, height)
  const wide = size - GAP
  for (let cell = 0; cell * share < count; cell++) {
    let worst = 0
    for (let thing = cell * share; thing < Math.min(count, (cell + 1) * share); thing++) {
      worst = Math.max(worst, WORSE.indexOf(kindOf(thing)))
    }
    const kind = WORSE[worst]
    const [x, y] = [(cell % columns) * size, Math.floor(cell / columns) * size]
    context.fillStyle = colorOf(kind ?? 'line')
    context.fillRect(x, y, wide, wide)
    // The same marks as on the bars, for those who do not tell the colours apart.
    context.fillStyle = colorOf('bg')
    if (kind === 'failed') context.fillRect(x + wide / 2 - 1, y + 1, 2, wide - 2)
    else if (kind === 'cancelled') context.fillRect(x + 1, y + 1, wide - 2, wide - 2)
    else if (kind === 'waiting') context.fillRect(x, y, wide, wide / 2)
  }
}
