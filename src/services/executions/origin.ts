// Where an execution comes from; of an id that is none, what else has it, where it would be and which ids come next to it.
import type { Databases } from '../../db/databases.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { CpError } from '../../errors.js'
import { namesOfEntries } from '../../stores/catalog/catalogStore.js'
import { type NearRow, nearestExecutions, type OriginRow, originOf } from '../../stores/executions/executionStore.js'
import { getSubscription } from '../../stores/subscriptions/subscriptionStore.js'

export interface Origin {
  shard: number
  /** Undefined: nobody knows this id. */
  created: OriginRow | undefined
  /** What else has this id. */
  instead: Instead | undefined
  /** Of an unknown id: on any shard, nearest first. */
  nearest: NearRow[]
  failures: { shard: number; error: CpError }[]
}

export interface Instead {
  kind: 'subscription' | 'catalog'
  path: string
  /** Of the entry. */
  version: number | null
}

const NEAREST_MAX = 5

export async function executionOrigin({ databases }: { databases: Databases }, id: ExecutionId): Promise<Origin> {
  const shard = databases.shardOf(id)
  const created = await originOf(databases.of(id), id)
  // Only a help on the way: whoever asks about an execution does not need the database of the catalog.
  const instead = await otherThing(databases, id).catch(() => undefined)
  if (created !== undefined) return { shard, created, instead, nearest: [], failures: [] }
  const { answers, failures } = await databases.fanOut((db) => nearestExecutions(db, id, NEAREST_MAX))
  const nearest = answers
    .flatMap(({ value }) => value)
    .map((row) => ({ row, far: distance(row.execution_id, id) }))
    .sort((left, right) => (left.far < right.far ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ row }) => row)
  return { shard, created, instead, nearest, failures }
}

/** People copy ids of other things as well. */
async function otherThing({ cluster }: Databases, id: string): Promise<Instead | undefined> {
  const [subscription, [entry]] = await Promise.all([getSubscription(cluster.db, id), namesOfEntries(cluster.db, [id])])
  if (subscription !== undefined) return { kind: 'subscription', path: subscription.path, version: null }
  return entry === undefined ? undefined : { kind: 'catalog', path: entry.path, version: entry.version }
}

function distance(left: string, right: string): bigint {
  const between = BigInt(left) - BigInt(right)
  return between < 0n ? -between : between
}
