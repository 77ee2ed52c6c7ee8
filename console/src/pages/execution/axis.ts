// From the place of an event to a place on the screen and back: one event, one step; or by the clock.
import type { Moment } from './record'

export type AxisKind = 'event' | 'time'

export interface Axis {
  /** 0 to 1, for 0 to all events. */
  fractionOf(position: number): number
  positionAt(fraction: number): number
}

export function axisOf(kind: AxisKind, moments: readonly Moment[]): Axis {
  const total = Math.max(1, moments.length)
  if (kind === 'event') {
    return { fractionOf: (position) => position / total, positionAt: (fraction) => Math.round(fraction * total) }
  }
  const first = moments[0]?.at ?? 0
  const span = Math.max(1, (moments.at(-1)?.at ?? 1) - first)
  const fractionOf = (position: number): number => (position === 0 ? 0 : (moments[position - 1]!.at - first) / span)
  return {
    fractionOf,
    positionAt: (fraction) => {
      let low = 0
      let high = moments.length
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if (fractionOf(middle) <= fraction) low = middle
        else high = middle - 1
      }
      return low
    },
  }
}
