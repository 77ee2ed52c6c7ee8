// Reading an execution's events whole and in an order that loses none, and writing back every column of theirs.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'
import type { ExportedRow } from '../../domain/events/exportedEvent.js'
import type { WireTime } from '../../domain/events/wireTime.js'

const q = queries(
  'event_tail_ids',
  'event_unnumbered_ids',
  'event_numbered_ids',
  'event_whole',
  'event_bytes',
  'event_restore',
)

/** Newest first. */
export async function tailIds(db: Queryable, executionId: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ event_id: string }>(q.event_tail_ids, [executionId, limit])
  return rows.map((row) => row.event_id)
}

/** Rows of other writers that have no number yet. */
export async function unnumberedIds(
  db: Queryable,
  executionId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.run<{ event_id: string }>(q.event_unnumbered_ids, [executionId, after, limit])
  return rows.map((row) => row.event_id)
}

export function numberedIds(
  db: Queryable,
  executionId: string,
  afterVersion: string,
  limit: number,
): Promise<{ event_id: string; stream_version: string }[]> {
  return db.run(q.event_numbered_ids, [executionId, afterVersion, limit])
}

/** In the order of the ids. */
export async function readWhole(db: Queryable, executionId: string, ids: readonly string[]): Promise<ExportedRow[]> {
  return ids.length === 0 ? [] : db.run<ExportedRow>(q.event_whole, [executionId, ids])
}

/** About how many bytes an event has as text; undefined when there is none. */
export async function readBytes(db: Queryable, executionId: string, eventId: string): Promise<number | undefined> {
  const [row] = await db.run<{ bytes: string }>(q.event_bytes, [executionId, eventId])
  return row === undefined ? undefined : Number(row.bytes)
}

export interface RestoredEvent {
  executionId: string
  eventId: string
  eventTime: WireTime
  ingestTime: WireTime
  /** Nothing was taken out of it when it was stored. */
  isWhole: boolean
  /** Its line of the export. */
  line: string
}

export async function restoreColumns(tx: Tx, events: readonly RestoredEvent[]): Promise<void> {
  await tx.run(q.event_restore, [
    events.map((event) => event.executionId),
    events.map((event) => event.eventId),
    events.map((event) => event.eventTime),
    events.map((event) => event.ingestTime),
    events.map((event) => event.isWhole),
    events.map((event) => event.line),
  ])
}
