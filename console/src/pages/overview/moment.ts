// Which time the charts show, and the moment on them that is looked at. Both are in the address: `since` and `until` while they
// are zoomed, `at` for the moment.
import { ask, query } from '../../lib/router'
import { millisOf } from '../../lib/time'
import { indexNear, RANGES, type Series } from './series'

export interface Span {
  from: number
  to: number
}

/** Nothing is zoomed nearer. */
export const SHORTEST_MS = 60_000

export type Range = (typeof RANGES)[number]

export function askedRange(): Range {
  return RANGES.find(({ id }) => id === query.value.get('range')) ?? RANGES[0]
}

export function chooseRange(index: number): void {
  ask({ range: index === 0 ? undefined : RANGES[index]!.id, since: undefined, until: undefined }, { replace: true })
}

export function askedMoment(): number | undefined {
  const at = millisOf(query.value.get('at'))
  return Number.isNaN(at) ? undefined : at
}

/** Undefined: the newest, as they come. */
export function askedSpan({ minutes }: Range, now: number): Span | undefined {
  const [from, to] = [millisOf(query.value.get('since')), millisOf(query.value.get('until'))]
  if (to > from) return { from, to }
  const at = askedMoment()
  const length = minutes * 60_000
  return at === undefined || at >= now - length ? undefined : { from: at - length / 2, to: at + length / 2 }
}

export function zoomTo({ from, to }: Span): void {
  const missing = Math.max(0, SHORTEST_MS - (to - from)) / 2
  ask({ since: timeText(from - missing), until: timeText(to + missing) })
}

/** Around the moment that is looked at; without one the end stays. */
export function zoomBy(factor: number, shown: Span, { minutes }: Range): void {
  const length = Math.max((shown.to - shown.from) * factor, SHORTEST_MS)
  if (length >= minutes * 60_000) {
    ask({ since: undefined, until: undefined })
    return
  }
  const at = askedMoment()
  const to = Math.min(at === undefined ? shown.to : at + length / 2, factor < 1 ? shown.to : Date.now())
  zoomTo({ from: to - length, to })
}

/** To a neighbour among what was measured; what is shown comes along. */
export function moveMoment(by: number, { at: times }: Series, shown: Span): void {
  if (times.length === 0) return
  const here = indexNear(times, askedMoment() ?? times.at(-1)!)
  const at = times[Math.min(times.length - 1, Math.max(0, here + by))]!
  const off = at < shown.from ? at - shown.from : Math.max(0, at - shown.to)
  const isZoomed = query.value.has('since')
  const moved = off !== 0 && isZoomed ? { since: timeText(shown.from + off), until: timeText(shown.to + off) } : {}
  ask({ at: timeText(at), ...moved }, { replace: true })
}

export function leaveMoment(): void {
  ask({ at: undefined, since: undefined, until: undefined })
}

export function timeText(at: number): string {
  return new Date(Math.round(at)).toISOString()
}
