// The outbox in SQL. Rows are written inside the transaction that writes their events.
import type { Tx } from '../db/db.js'
import { queries } from '../db/queries.js'

const q = queries('outbox_insert')

export interface NewOutboxRow {
  executionId: string
  eventId: string
  subject: string
  /** The envelope as JSON text. */
  payload: string
  /** W3C trace context as JSON text, if the request carried one. */
  trace: string | null
}

export async function insertOutboxRows(tx: Tx, rows: readonly NewOutboxRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(q.outbox_insert, [
    rows.map((row) => row.executionId),
    rows.map((row) => row.eventId),
    rows.map((row) => row.subject),
    rows.map((row) => row.payload),
    rows.map((row) => row.trace),
  ])
}
