// Requests with an Idempotency-Key and the events they stored.
import type { Queryable, Tx } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('event_request_find', 'event_request_insert')

export async function findEventRequest(db: Queryable, executionId: string, key: string): Promise<string[] | undefined> {
  const [row] = await db.run<{ event_ids: string[] }>(q.event_request_find, [executionId, key])
  return row?.event_ids
}

export async function insertEventRequest(
  tx: Tx,
  executionId: string,
  key: string,
  eventIds: readonly string[],
): Promise<void> {
  await tx.run(q.event_request_insert, [executionId, key, eventIds])
}
