// The places of the console: what the navigation lists, which key leads there, and what is loaded for it.
import type { ComponentType } from 'preact'
import { Executions } from '../pages/executions/Executions'
import { Overview } from '../pages/overview/Overview'

export interface Place {
  name: string
  path: string
  /** After `g`. */
  key?: string
  /** A path in a 16 × 16 box. */
  icon: string
  page: ComponentType
}

export const PLACES: readonly Place[] = [
  { name: 'Overview', path: '/', key: 'o', icon: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z', page: Overview },
  { name: 'Executions', path: '/executions', key: 'e', icon: 'M2 3h8v2H2zM4 7h9v2H4zM7 11h7v2H7z', page: Executions },
]

/** The place that holds this path, and what comes after it. */
export function placeOf(path: string): { place: Place; rest: string } | undefined {
  const found = PLACES.filter(
    (place) => place.path === path || (place.path !== '/' && path.startsWith(`${place.path}/`)),
  )
  const place = found.sort((left, right) => right.path.length - left.path.length)[0]
  return place === undefined ? undefined : { place, rest: decodeURIComponent(path.slice(place.path.length + 1)) }
}
