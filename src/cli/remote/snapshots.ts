// Snapshots as a daemon answers them, in the rows that the commands show.
import type { WireTime } from '../../domain/events/wireTime.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { SnapshotListRow } from '../../services/state/snapshots.js'
import { collectPages, given, numberOf, type RemoteClient } from '../remote.js'

export type ShownSnapshot = Omit<SnapshotListRow, 'created_at' | 'updated_at'> & {
  shard: number
  created_at: WireTime
  updated_at: WireTime
}

export interface SnapshotsAsked {
  type: 'state' | 'replay' | 'all'
  executionId: string | null
  /** Undefined: from the beginning. */
  after: string | undefined
  limit: number
}

export interface SnapshotPage {
  rows: ShownSnapshot[]
  next: string | null
  failed: { shard: number; error: string }[]
}

const PAGE_MAX = 500

export async function snapshotsRemotely(remote: RemoteClient, asked: SnapshotsAsked): Promise<SnapshotPage> {
  const failed = new Set<number>()
  const { rows, next } = await collectPages<ShownSnapshot, string>(asked.limit, asked.after, async (after, limit) => {
    const query = given({ type: asked.type, execution_id: asked.executionId, after, limit: Math.min(limit, PAGE_MAX) })
    const page = await remote.call('getSnapshots', { query })
    for (const shard of page.failed_shards ?? []) failed.add(numberOf(shard))
    return { rows: (page.snapshots ?? []).map(rowOf), next: page.next_after ?? undefined }
  })
  return {
    rows,
    next: next ?? null,
    failed: [...failed].map((shard) => ({ shard, error: 'the daemon cannot reach it' })),
  }
}

function rowOf(told: object): ShownSnapshot {
  const { type, name, stored_bytes, shard, meta, ...rest } = told as Record<string, JsonValue>
  return {
    ...(rest as object),
    shard: numberOf(shard),
    aggregate_type: type,
    aggregate_id: name,
    meta: meta ?? null,
    stored_bytes: stored_bytes === null ? null : numberOf(stored_bytes),
  } as ShownSnapshot
}
