// What the newest lifecycle event of a log says, in the words of the row.
import type { Queryable } from '../../db/db.js'
import { parseWireTime, wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { type ShownState, stateAfter } from '../../domain/subscriptions/subscription.js'
import { type NewestRow, newestLifecycle } from '../../stores/subscriptions/subscriptionLogStore.js'
import type { LoggedState } from '../../stores/subscriptions/subscriptionStore.js'

/** What the log of a shard says of each of the ids; nothing of those it does not know. */
export async function loggedStates(
  db: Queryable,
  ids: readonly string[],
): Promise<(LoggedState & { path: string | null })[]> {
  return (await newestLifecycle(db, ids)).flatMap((newest) => {
    const state = stateAfter(newest.event_type, newest.status)
    return state === undefined ? [] : [{ ...loggedState(newest, state), path: newest.path }]
  })
}

function loggedState(newest: NewestRow, state: ShownState): LoggedState {
  const meta = isJsonObject(newest.meta) ? newest.meta : {}
  return {
    id: newest.subscription_id,
    state,
    catalogId: newest.catalog_id,
    eventId: newest.event_id,
    eventType: newest.event_type,
    at: wireTimeFromPostgres(newest.created_at, 'created_at'),
    reason: text(meta['reason']),
    actor: text(meta['actor']),
    until: state === 'PAUSED' || state === 'DRAINING' ? time(meta['until']) : null,
  }
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** A foreign writer may have put anything there; a pause without an end is the safe reading. */
function time(value: JsonValue | undefined): string | null {
  try {
    return parseWireTime(value, 'until') ?? null
  } catch {
    return null
  }
}
