// Records of deduplicated starts. They live in the database of the execution they started and are written
// in the transaction that writes its start event.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('dedup_claim', 'dedup_holder', 'dedup_purge')

export interface DedupKey {
  scope: string
  key: string
}

export async function keepDedupKey(
  tx: Tx,
  key: DedupKey,
  executionId: string,
  windowSeconds: number,
): Promise<boolean> {
  const rows = await tx.run(q.dedup_claim, [key.scope, key.key, executionId, windowSeconds])
  return rows.length === 1
}

export async function dedupHolder(tx: Tx, key: DedupKey): Promise<string | undefined> {
  const [row] = await tx.run<{ execution_id: string }>(q.dedup_holder, [key.scope, key.key])
  return row?.execution_id
}

export async function purgeDedup(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.dedup_purge, [limit])).count
}
