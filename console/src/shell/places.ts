// The places of the console: what the navigation lists, which key leads there, and what is loaded for it.
import type { ComponentType } from 'preact'
import { Executions } from '../pages/executions/Executions'
import { Outbox } from '../pages/outbox/Outbox'
import { Overview } from '../pages/overview/Overview'
import { Subscriptions } from '../pages/subscriptions/Subscriptions'

export interface Place {
  name: string
  path: string
  /** After `g`. */
  key?: string
  /** A path in a 16 × 16 box. */
  icon: string
  page: ComponentType
  /** About the instance itself: behind the cog. */
  isBehindCog?: boolean
}

export const PLACES: readonly Place[] = [
  { name: 'Overview', path: '/', key: 'o', icon: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z', page: Overview },
  { name: 'Executions', path: '/executions', key: 'e', icon: 'M2 3h8v2H2zM4 7h9v2H4zM7 11h7v2H7z', page: Executions },
  { name: 'Outbox', path: '/outbox', key: 'x', icon: 'M2 9h3l1 2h4l1-2h3v5H2zM7 9V5H5l3-3 3 3H9v4z', page: Outbox },
  {
    name: 'Subscriptions',
    path: '/subscriptions',
    key: 's',
    icon: 'M2 12a2 2 0 1 1 4 0 2 2 0 0 1-4 0zM2 6a8 8 0 0 1 8 8H8a6 6 0 0 0-6-6zM2 2a12 12 0 0 1 12 12h-2A10 10 0 0 0 2 4z',
    page: Subscriptions,
  },
]

/** The place that holds this path, and what comes after it. */
export function placeOf(path: string): { place: Place; rest: string } | undefined {
  const found = PLACES.filter(
    (place) => place.path === path || (place.path !== '/' && path.startsWith(`${place.path}/`)),
  )
  const place = found.sort((left, right) => right.path.length - left.path.length)[0]
  return place === undefined ? undefined : { place, rest: decodeURIComponent(path.slice(place.path.length + 1)) }
}
