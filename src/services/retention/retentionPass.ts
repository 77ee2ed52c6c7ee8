// What one pass of retention is asked for, works with and reports. Shared by its steps.
import type { Db } from '../../db/db.js'
import type { WireTime } from '../../domain/events/wireTime.js'
import type { IdRange } from '../../domain/retention/eventPartition.js'
import type { CpError } from '../../errors.js'
import type { KeepReason } from '../../stores/retention/retentionStore.js'

export interface RetentionRequest {
  olderThanMs: number
  /** Only say what would go. */
  dryRun: boolean
  /** Stops between two bounded steps. */
  signal?: AbortSignal | undefined
}

export interface DroppedPartition {
  name: string
  events: string
  executions: string
}

export interface KeptPartition {
  name: string
  reason: KeepReason | 'busy' | 'by_hand'
  /** A sentence for people. */
  detail: string
}

export interface RetentionReport {
  shard: string
  cutoff: WireTime
  /** In a dry run: what would be dropped and deleted. */
  dropped: DroppedPartition[]
  kept: KeptPartition[]
  /** Of the default partition. */
  defaultEventsDeleted: number
  /** Of subscriptions that live on, moved from dropped partitions to the default one. */
  subscriptionEventsKept: number
  defaultExecutionsKept: Record<KeepReason, number>
  executionsDeleted: number
  snapshotsDeleted: number
  projectionsDeleted: number
  dedupRecordsDeleted: number
  error: CpError | undefined
}

/** What one shard is judged by; all of it comes from the clock of its database. */
export interface RetentionPass {
  db: Db
  /** Where the rows of subscriptions are. */
  clusterDb: Db
  cutoff: WireTime
  startedAt: WireTime
  aged: IdRange[]
  /** Subscriptions that nobody knows any more. */
  forgotten: Set<string>
  dryRun: boolean
  signal: AbortSignal | undefined
}
