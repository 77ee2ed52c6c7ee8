// Results that are too large for an event.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries(
  'result_put',
  'result_get',
  'result_adopted',
  'result_bounded',
  'result_adopted_bounded',
  'result_place',
  'result_page',
  'result_hand_over',
  'result_purge',
)

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

export interface BoundedResult {
  /** Null: it has more bytes than were asked for. JSON text, or compressed JSON. */
  data: string | Uint8Array | null
  is_sealed: boolean
  bytes: string
}

/** From our table or from that of the NoETL server. */
export async function getResultWithin(
  db: Queryable,
  executionId: string,
  resultId: string,
  bytesMax: number,
): Promise<BoundedResult | undefined> {
  const [own] = await db.run<BoundedResult>(q.result_bounded, [executionId, resultId, bytesMax])
  if (own !== undefined) return own
  const [adopted] = await db.run<Omit<BoundedResult, 'is_sealed'>>(q.result_adopted_bounded, [
    executionId,
    resultId,
    bytesMax,
  ])
  return adopted === undefined ? undefined : { ...adopted, is_sealed: false }
}

export interface ResultPlace {
  store_tier: string
  physical_uri: string | null
}

export async function getResultPlace(db: Queryable, ref: string): Promise<ResultPlace | undefined> {
  const [place] = await db.run<ResultPlace>(q.result_place, [ref])
  return place
}

export interface StoredResult extends ResultRow {
  execution_id: string
  result_id: string
  name: string
  scope: string
  source_step: string | null
  created_at: string
  expires_at: string | null
}

export function listResults(
  db: Queryable,
  after: { execution_id: string; result_id: string },
  limit: number,
): Promise<StoredResult[]> {
  return db.run<StoredResult>(q.result_page, [after.execution_id, after.result_id, limit])
}

/** Into the table of the NoETL server. `text`: the JSON. */
export async function handOverResult(db: Queryable, row: StoredResult, text: string): Promise<void> {
  const { execution_id, result_id, name, scope, source_step, bytes, sha256, created_at, expires_at } = row
  await db.run(q.result_hand_over, [
    execution_id,
    result_id,
    name,
    scope,
    source_step,
    text,
    bytes,
    sha256,
    created_at,
    expires_at,
  ])
}

export async function purgeResults(db: Queryable, limit: number): Promise<number> {
  return (await db.run(q.result_purge, [limit])).count
}
