// The instance at one glance, as GET /api/overview has it.
import type { Backlog, Relay } from '../outbox/outbox'

export interface InstanceOverview {
  at: string
  version: string
  mode: string
  ready: boolean
  checks: { name: string; ok: boolean; required: boolean; detail: string | null; ms: number }[]
  shards: ShardOverview[]
  /** Who holds the lanes of live states. */
  drivers: (Holder & { shard: number; share: string })[]
  pools: { name: string; kind: string; alive: boolean; silent_seconds: number | null; capacity: number }[]
  subscriptions: Record<string, number>
  /** Some of them, if there are many. */
  stuck: { execution_id: string; what: string }[]
  dead_messages: { subscription_id: string; path: string | null; count: number }[]
  /** Behind each of them something waits. */
  paused_backlogs: { subscription_id: string; path: string; messages: number }[]
  schema: { database: string; applied: number; pending: number }[]
  errors: string[]
}

export interface ShardOverview {
  shard: number
  label: string
  error: string | null
  backlog: Backlog | null
  dead: number | null
  oldest_age_seconds: number | null
  published_last_minute: number | null
  owners: Holder[]
  relays: Relay[]
}

/** Of lanes: which ones, and what is left of each lease. */
export interface Holder {
  owner: string
  lanes: number
  live: boolean
  slots: number[]
  lease_seconds: number[]
}

export const LANES = 64
