// Where an execution comes from; of an id that nobody knows, where it would be and which ids come next to it.
import type { Databases } from '../../db/databases.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { CpError } from '../../errors.js'
import { type NearRow, nearestExecutions, type OriginRow, originOf } from '../../stores/executions/executionStore.js'

export interface Origin {
  shard: number
  /** Undefined: nobody knows this id. */
  created: OriginRow | undefined
  /** Of an unknown id: on any shard, nearest first. */
  nearest: NearRow[]
  failures: { shard: number; error: CpError }[]
}

const NEAREST_MAX = 5

export async function executionOrigin({ databases }: { databases: Databases }, id: ExecutionId): Promise<Origin> {
  const shard = databases.shardOf(id)
  const created = await originOf(databases.of(id), id)
  if (created !== undefined) return { shard, created, nearest: [], failures: [] }
  const { answers, failures } = await databases.fanOut((db) => nearestExecutions(db, id, NEAREST_MAX))
  const nearest = answers
    .flatMap(({ value }) => value)
    .map((row) => ({ row, far: distance(row.execution_id, id) }))
    .sort((left, right) => (left.far < right.far ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ row }) => row)
  return { shard, created, nearest, failures }
}

function distance(left: string, right: string): bigint {
  const between = BigInt(left) - BigInt(right)
  return between < 0n ? -between : between
}
