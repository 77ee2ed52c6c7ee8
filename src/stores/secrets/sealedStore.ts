// Sealed secrets and the keys that sealed them.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { EventRow } from '../events/eventRows.js'

const q = queries('seal_key_note', 'seal_key_list', 'event_sealed')

export async function noteSealKey(db: Queryable, keyId: string): Promise<void> {
  await db.run(q.seal_key_note, [keyId])
}

export interface SealKeyRow {
  key_id: string
  first_used_at: string
}

export function listSealKeys(db: Queryable): Promise<SealKeyRow[]> {
  return db.run<SealKeyRow>(q.seal_key_list)
}

export interface SealedEventRow extends EventRow {
  sealed: string | null
}

export interface EventKey {
  executionId: string
  eventId: string
}

export function readSealedEvents(db: Queryable, keys: readonly EventKey[]): Promise<SealedEventRow[]> {
  return db.run<SealedEventRow>(q.event_sealed, [keys.map((key) => key.executionId), keys.map((key) => key.eventId)])
}
