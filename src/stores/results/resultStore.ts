// Results that are too large for an event.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('result_put', 'result_get', 'result_adopted', 'result_purge')

export interface NewResult {
  executionId: string
  resultId: string
  name: string
  scope: string
  sourceStep: string | null
  data: Uint8Array
  isSealed: boolean
  bytes: number
  sha256: string
  ttlSeconds: number | null
}

/** Undefined: there is no such execution, or no room for more of it. */
export async function putResult(
  db: Queryable,
  row: NewResult,
  quotaBytes: number,
): Promise<{ expires_at: string | null } | undefined> {
  const [written] = await db.run<{ expires_at: string | null }>(q.result_put, [
    row.executionId,
    row.resultId,
    row.name,
    row.scope,
    row.sourceStep,
    row.data,
    row.isSealed,
    row.bytes,
    row.sha256,
    row.ttlSeconds,
    quotaBytes,
  ])
  return written
}

export interface ResultRow {
  data: Uint8Array
  is_sealed: boolean
  bytes: string
  sha256: string
}

export async function getResult(db: Queryable, executionId: string, resultId: string): Promise<ResultRow | undefined> {
  const [row] = await db.run<ResultRow>(q.result_get, [executionId, resultId])
  return row
}

/** JSON text. */
export async function getAdoptedResult(
  db: Queryable,
  executionId: string,
  resultId: string,
): Promise<string | undefined> {
  const [row] = await db.run<{ data: string | null }>(q.result_adopted, [executionId, resultId])
  return row?.data ?? undefined
}

export async function purgeResults(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.result_purge, [limit])).count
}
