// Envelopes that could not be stored, in the cluster database, each with its reason.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import { storableText } from '../../domain/events/storableText.js'

const q = queries(
  'quarantine_insert',
  'quarantine_list',
  'quarantine_get',
  'quarantine_delete',
  'quarantine_failed_again',
)

export interface QuarantineRow {
  quarantine_id: string
  event_id: string | null
  execution_id: string | null
  envelope: Buffer
  reason: string
  source: string
  attempts: number
  created_at: string
  updated_at: string
}

export interface NewQuarantine {
  eventId: string | undefined
  executionId: string | undefined
  envelope: Uint8Array
  reason: string
  source: string
}

const REASON_MAX = 2_000

export async function quarantine(db: Queryable, row: NewQuarantine): Promise<void> {
  await db.run(q.quarantine_insert, [
    row.eventId ?? null,
    row.executionId ?? null,
    row.envelope,
    storableText(row.reason.slice(0, REASON_MAX)),
    row.source,
  ])
}

export function listQuarantine(db: Queryable, afterId: string, limit: number): Promise<QuarantineRow[]> {
  return db.run<QuarantineRow>(q.quarantine_list, [afterId, limit])
}

export async function getQuarantine(db: Queryable, id: string): Promise<QuarantineRow | undefined> {
  const [row] = await db.run<QuarantineRow>(q.quarantine_get, [id])
  return row
}

export async function deleteQuarantine(db: Queryable, ids: readonly string[]): Promise<number> {
  return (await db.run(q.quarantine_delete, [ids])).count
}

export async function noteFailedAgain(db: Queryable, id: string, reason: string): Promise<void> {
  await db.run(q.quarantine_failed_again, [id, storableText(reason.slice(0, REASON_MAX))])
}
