// What the demo starts, and how each of them ends.
import type { JsonObject } from '../../domain/json/value.js'
import { NOBODY_POOL } from './entries.js'

export interface Play {
  path: string
  payload: JsonObject
  /** In the table of what was made. */
  about: string
  /** How the execution is left, if a worker serves this instance. */
  ends: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'RUNNING'
  pool?: string
}

export const PLAYS: readonly Play[] = [
  {
    path: 'demo/daily-report',
    payload: { rows: 1_377 },
    about: 'three steps, all well',
    ends: 'COMPLETED',
  },
  {
    path: 'demo/weekly-report',
    payload: {},
    about: 'a loop that starts a playbook per day and waits for it',
    ends: 'COMPLETED',
  },
  {
    path: 'demo/import-orders',
    payload: { source: 'shop' },
    about: 'the download fails twice, an arc takes the rows of yesterday',
    ends: 'COMPLETED',
  },
  {
    path: 'demo/import-orders',
    payload: { source: 'market' },
    about: 'failed: nobody listens where it downloads from',
    ends: 'FAILED',
  },
  {
    path: 'demo/thumbnails',
    payload: {},
    about: 'a loop over 6 images',
    ends: 'COMPLETED',
  },
  {
    path: 'demo/payment-sync',
    payload: {},
    about: `stuck: its command waits for the pool ${NOBODY_POOL}`,
    ends: 'RUNNING',
    pool: NOBODY_POOL,
  },
  {
    path: 'demo/payment-sync',
    payload: { account: 'old' },
    about: 'cancelled by hand',
    ends: 'CANCELLED',
    pool: NOBODY_POOL,
  },
]
