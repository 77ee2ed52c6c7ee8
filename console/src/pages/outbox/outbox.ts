// The outbox as the routes for operators have it.
import type { Answer } from '../../lib/api'

export interface ShardOutbox {
  shard: number
  label: string
  error: string | null
  backlog: Backlog | null
  dead: number | null
  published: { rows: number; is_estimate: boolean } | null
  oldest_age_seconds: number | null
  published_last_minute: number | null
  relays: Relay[]
}

export interface Backlog {
  pending_ready: number
  pending_waiting: number
  failed_ready: number
  failed_waiting: number
  in_flight_live: number
  in_flight_expired: number
  capped: boolean
}

export interface Relay {
  relay_id: string
  lanes: number
  published: string
  started_at: string
  alive: boolean
}

export interface OutboxRow {
  shard: number
  outbox_id: string
  execution_id: string | null
  event_id: string
  subject: string | null
  status: string
  attempts: number
  last_error: string | null
  bytes: number
  available_at: string | null
  created_at: string | null
  published_at: string | null
  updated_at: string | null
}

export interface OutboxRows {
  rows: OutboxRow[]
  next_cursor: string | null
}

/** Beyond the cap nobody has counted. */
export function atLeast(shards: readonly Pick<ShardOutbox, 'backlog'>[]): string {
  return shards.some(({ backlog }) => backlog?.capped === true) ? 'at least ' : ''
}

/** The shards that did not answer. */
export function missingOf(answer: Answer<OutboxRows> | undefined): string | undefined {
  return answer?.headers.get('x-noetl-failed-shards') ?? undefined
}

export const OUTBOX_STATUSES = ['PENDING', 'IN_FLIGHT', 'FAILED', 'PUBLISHED', 'DEAD'] as const

/** Ids are unique per database. */
export function keyOf({ shard, outbox_id }: Pick<OutboxRow, 'shard' | 'outbox_id'>): string {
  return `${shard}-${outbox_id}`
}

export function waitingOf(backlog: Backlog): number {
  return (
    backlog.pending_ready +
    backlog.pending_waiting +
    backlog.failed_ready +
    backlog.failed_waiting +
    backlog.in_flight_live +
    backlog.in_flight_expired
  )
}
