// The places of the console: what the navigation lists, which key leads there, and what is loaded for it.
import type { ComponentType } from 'preact'
import { Executions } from '../pages/executions/Executions'
import { Activity } from '../pages/instance/Activity'
import { Doctor } from '../pages/instance/Doctor'
import { Settings } from '../pages/instance/Settings'
import { Jobs } from '../pages/jobs/Jobs'
import { Outbox } from '../pages/outbox/Outbox'
import { Overview } from '../pages/overview/Overview'
import { lazy } from '../parts/lazy'

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
    page: lazy(() => import('../pages/later').then(({ Subscriptions }) => Subscriptions)),
  },
  {
    name: 'Catalog',
    path: '/catalog',
    key: 'c',
    icon: 'M3 1h9a1 1 0 0 1 1 1v13l-5-3-5 3V2zM5 4v1.5h6V4zM5 7v1.5h6V7z',
    page: lazy(() => import('../pages/later').then(({ Catalog }) => Catalog)),
  },
  {
    name: 'Compare',
    path: '/compare',
    icon: 'M2 2h5v12H2zm1.5 1.5v9h2v-9zM9 2h5v12H9zm1.5 3v2h2V5zm0 3.5v2h2v-2z',
    page: lazy(() => import('../pages/later').then(({ Compare }) => Compare)),
    isBehindCog: true,
  },
  {
    name: 'Snapshots',
    path: '/snapshots',
    key: 'n',
    icon: 'M5 2h6l1 2h3v10H1V4h3zm3 3.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM8 7a2 2 0 1 1 0 4 2 2 0 0 1 0-4z',
    page: lazy(() => import('../pages/later').then(({ Snapshots }) => Snapshots)),
    isBehindCog: true,
  },
  {
    name: 'Jobs',
    path: '/jobs',
    key: 'j',
    icon: 'M2 3h2v2H2zM6 3h8v2H6zM2 7h2v2H2zM6 7h8v2H6zM2 11h2v2H2zM6 11h8v2H6z',
    page: Jobs,
    isBehindCog: true,
  },
  {
    name: 'Doctor',
    path: '/doctor',
    key: 'd',
    icon: 'M6 2h4v4h4v4h-4v4H6v-4H2V6h4z',
    page: Doctor,
    isBehindCog: true,
  },
  {
    name: 'Activity',
    path: '/activity',
    key: 'a',
    icon: 'M1 7h3l2-5 4 10 2-5h3v2h-2l-3 6L6 6 5 9H1z',
    page: Activity,
    isBehindCog: true,
  },
  {
    name: 'Settings',
    path: '/settings',
    icon: 'M2 4h6v2H2zM10 3h2v1h2v2h-2v1h-2zM2 10h2V9h2v4H4v-1H2zM8 10h6v2H8z',
    page: Settings,
    isBehindCog: true,
  },
  {
    name: 'Help',
    path: '/help',
    key: 'h',
    icon: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm-.9 10h1.8v1.8H7.1zM8 3.2c1.7 0 2.9 1 2.9 2.500 0 1.900-2 2.100-2 3.700H7.1c0-2.500 2-2.500 2-3.600 0-.5-.4-.9-1.1-.9-.7 0-1.2.5-1.2 1.2H5c0-1.700 1.2-2.9 3-2.9z',
    page: lazy(() => import('../pages/later').then(({ HelpPage }) => HelpPage)),
    isBehindCog: true,
  },
]

/** The place that holds this path. */
export function placeOf(path: string): Place | undefined {
  const found = PLACES.filter(
    (place) => place.path === path || (place.path !== '/' && path.startsWith(`${place.path}/`)),
  )
  return found.sort((left, right) => right.path.length - left.path.length)[0]
}
