// What a start on behalf of a subscription writes besides its event, in the database of the execution: the
// fence that says who may, and the keys that say what was started already. Given-up messages lie in the
// cluster database.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { storableJson, storableText } from '../../domain/events/storableText.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'

const q = queries(
  'subscription_fence_hold',
  'subscription_fence_raise',
  'subscription_dedup_seen',
  'subscription_dedup_claim',
  'subscription_dead_insert',
  'subscription_dead_list',
  'subscription_dead_heads',
  'subscription_dead_get',
  'subscription_dead_delete',
  'subscription_dead_drop',
  'subscription_dead_count',
  'subscription_dead_by',
)

export async function holdFence(tx: Tx, id: string): Promise<string | undefined> {
  const [row] = await tx.run<{ epoch: string }>(q.subscription_fence_hold, [id])
  return row?.epoch
}

/** False when a later epoch stands there already. */
export async function raiseFence(db: Queryable, id: string, epoch: string, deadlineMs?: number): Promise<boolean> {
  const rows = await db.run(q.subscription_fence_raise, [id, epoch], deadlineMs === undefined ? {} : { deadlineMs })
  return rows.length === 1
}

export async function seenKeys(tx: Tx, scope: string, keys: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.run<{ dedup_key: string; execution_id: string }>(q.subscription_dedup_seen, [scope, keys])
  return new Map(rows.map((row) => [row.dedup_key, row.execution_id]))
}

export interface KeptKey {
  key: string
  executionId: string
  windowSeconds: number
}

/** The keys that were free. No key may come twice in one call. */
export async function keepKeys(tx: Tx, scope: string, kept: readonly KeptKey[]): Promise<Set<string>> {
  const rows = await tx.run<{ dedup_key: string }>(q.subscription_dedup_claim, [
    scope,
    kept.map((one) => one.key),
    kept.map((one) => one.executionId),
    kept.map((one) => one.windowSeconds),
  ])
  return new Set(rows.map((row) => row.dedup_key))
}

export interface DeadMessage {
  subscriptionId: string
  identity: string
  subject: string | null
  headers: JsonObject
  body: Uint8Array
  reason: string
  attempts: number
}

/** Whatever the message holds: one that could be neither started nor kept would come back for ever. */
export async function keepDead(db: Queryable, message: DeadMessage): Promise<void> {
  await db.run(q.subscription_dead_insert, [
    message.subscriptionId,
    storableText(message.identity),
    message.subject === null ? null : storableText(message.subject),
    writeJson(storableJson(message.headers)),
    message.body,
    storableText(message.reason),
    message.attempts,
  ])
}

export interface DeadRow {
  dead_letter_id: string
  subscription_id: string
  identity: string
  subject: string | null
  headers: JsonValue
  bytes: number
  reason: string
  attempts: number
  created_at: string
}

export function listDead(
  db: Queryable,
  subscriptionId: string | null,
  after: string,
  limit: number,
): Promise<DeadRow[]> {
  return db.run<DeadRow>(q.subscription_dead_list, [subscriptionId, after, limit])
}

export interface DeadHead {
  dead_letter_id: string
  is_whole: boolean
  head: Buffer
}

export function headsOfDead(
  db: Queryable,
  ids: readonly string[],
  { wholeMax, headBytes }: { wholeMax: number; headBytes: number },
): Promise<DeadHead[]> {
  return db.run<DeadHead>(q.subscription_dead_heads, [ids, wholeMax, headBytes])
}

export type DeadMessageRow = Omit<DeadRow, 'bytes'> & { body: Buffer }

export async function getDead(db: Queryable, id: string): Promise<DeadMessageRow | undefined> {
  const [row] = await db.run<DeadMessageRow>(q.subscription_dead_get, [id])
  return row
}

/** Those that are gone. */
export async function dropDead(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.run<{ dead_letter_id: string }>(q.subscription_dead_drop, [ids])
  return rows.map((row) => row.dead_letter_id)
}

export async function deleteDead(db: Queryable, id: string): Promise<void> {
  await db.run(q.subscription_dead_delete, [id])
}

export async function countDead(db: Queryable): Promise<number> {
  const [row] = await db.run<{ count: number }>(q.subscription_dead_count)
  return row?.count ?? 0
}

export interface DeadOf {
  subscription_id: string
  path: string | null
  count: number
}

export function countDeadBySubscription(
  db: Queryable,
  { lookedAtMax, limit }: { lookedAtMax: number; limit: number },
): Promise<DeadOf[]> {
  return db.run<DeadOf>(q.subscription_dead_by, [lookedAtMax, limit])
}
