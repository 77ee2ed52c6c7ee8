// Reading an execution's events whole and in an order that loses none, and the columns that an import adds.
import type { Queryable, Tx } from '../../db/db.js'
import type { Scalar } from '../../db/params.js'
import { queries } from '../../db/queries.js'
import type { EventDetails } from '../../domain/events/eventDetails.js'
import { writeJson } from '../../domain/json/write.js'
import type { FullEventRow } from './eventRows.js'

const q = queries('event_tail', 'event_unnumbered', 'event_set_details')

/** Newest first. */
export function readTail(db: Queryable, executionId: string, limit: number): Promise<FullEventRow[]> {
  return db.run<FullEventRow>(q.event_tail, [executionId, limit])
}

/** Rows of other writers that have no number yet. */
export function readUnnumbered(
  db: Queryable,
  executionId: string,
  afterEventId: string,
  limit: number,
): Promise<FullEventRow[]> {
  return db.run<FullEventRow>(q.event_unnumbered, [executionId, afterEventId, limit])
}

export interface DetailedEvent {
  executionId: string
  eventId: string
  details: EventDetails
}

export async function setDetails(tx: Tx, events: readonly DetailedEvent[]): Promise<void> {
  const column = (read: (event: DetailedEvent) => Scalar | undefined): Scalar[] =>
    events.map((event) => read(event) ?? null)
  await tx.run(q.event_set_details, [
    column(({ executionId }) => executionId),
    column(({ eventId }) => eventId),
    column(({ details }) => details.stageId),
    column(({ details }) => details.frameId),
    column(({ details }) => details.commandId),
    column(({ details }) => (details.payloadRef === undefined ? null : writeJson(details.payloadRef))),
    column(({ details }) => details.aggregateId),
    column(({ details }) => details.aggregateType),
    column(({ details }) => details.schemaName),
    column(({ details }) => details.schemaVersion),
  ])
}
