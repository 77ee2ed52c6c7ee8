// Reads the read model: single executions with their events and results, never a scan of the log.

import type { Databases } from '../../db/databases.js'
import type { Queryable } from '../../db/db.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import { isSubscriptionLog, subscriptionInstead } from '../../domain/executions/kinds.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonValue } from '../../domain/json/value.js'
import {
  countEvents,
  type EventPage,
  type LatestEvent,
  readLatest,
  readResults,
  readStartWorkload,
  type StartWorkload,
} from '../../stores/events/eventStore.js'
import { type ExecutionRow, getExecution } from '../../stores/executions/executionStore.js'
import { wholeEventPath } from '../events/wholeEvent.js'
import type { StepCounts, StepProgress } from './stepProgress.js'

export type { ExecutionSelection } from '../../stores/executions/executionListStore.js'
export type { ExecutionRow } from '../../stores/executions/executionStore.js'

export interface ExecutionQueriesDeps {
  databases: Databases
}

export async function findExecution({ databases }: ExecutionQueriesDeps, id: ExecutionId): Promise<ExecutionRow> {
  const row = await getExecution(databases.of(id), id)
  if (row === undefined) throw noSuchExecution(id)
  if (isSubscriptionLog(row.start_event_type)) throw subscriptionInstead(id)
  return row
}

export const PAGE_BYTES_DEFAULT = 8 * 1_048_576
const COLUMN_BYTES_MAX = 256 * 1024

export interface ExecutionDetail {
  row: ExecutionRow
  workload: JsonValue
  /** Of the event that ended it. */
  result: JsonValue
  /** Newest first. */
  events: LatestEvent[]
  /** On all pages. */
  totalEvents: number
}

export async function executionDetail(
  deps: ExecutionQueriesDeps,
  id: ExecutionId,
  page: EventPage,
  pageBytes = PAGE_BYTES_DEFAULT,
): Promise<ExecutionDetail> {
  const db = deps.databases.of(id)
  const row = await findExecution(deps, id)
  const isFiltered = page.sinceEventId !== null || page.eventType !== null
  const [events, start, results, totalEvents] = await Promise.all([
    readLatest(db, id, page, { columnBytes: COLUMN_BYTES_MAX, pageBytes }),
    row.start_event_id === null ? undefined : readStartWorkload(db, id, row.start_event_id, COLUMN_BYTES_MAX),
    resultsOf(db, [row], COLUMN_BYTES_MAX),
    isFiltered ? countEvents(db, id, page) : Number(row.event_count),
  ])
  return {
    row,
    workload: shownWorkload(start, id, row.start_event_id),
    result: results.get(id) ?? null,
    events: events.map((event) => withReferences(event, id)),
    totalEvents,
  }
}

/** What the executions ended with, by id; those that have not ended are left out. All are of one database. */
export async function resultsOf(
  db: Queryable,
  rows: readonly Pick<ExecutionRow, 'execution_id' | 'terminal_event_id'>[],
  columnBytes: number,
): Promise<Map<string, JsonValue>> {
  const ends = rows.flatMap(({ execution_id: executionId, terminal_event_id: eventId }) =>
    eventId === null ? [] : [{ executionId, eventId }],
  )
  if (ends.length === 0) return new Map()
  const results = await readResults(db, ends, columnBytes)
  return new Map(
    results.map(({ execution_id, event_id, result, left_out }) => [
      execution_id,
      left_out ? leftOut(execution_id, event_id) : result,
    ]),
  )
}

/** The newest events, whatever they are. */
export function latestEvents(limit: number): EventPage {
  return { limit, offset: 0, sinceEventId: null, eventType: null }
}

function shownWorkload(start: StartWorkload | undefined, id: string, eventId: string | null): JsonValue {
  if (start?.left_out === true && eventId !== null) return leftOut(id, eventId)
  return start?.workload == null ? null : parseJson(start.workload)
}

/** What a page leaves out is replaced by where to get it. */
function withReferences(event: LatestEvent, id: string): LatestEvent {
  if (event.left_out.length === 0) return event
  const reference = leftOut(id, event.event_id)
  return {
    ...event,
    context: event.left_out.includes('context') ? reference : event.context,
    result: event.left_out.includes('result') ? reference : event.result,
    error: event.left_out.includes('error') ? `too large for this page; see ${reference['_left_out']}` : event.error,
  }
}

function leftOut(executionId: string, eventId: string) {
  return { _left_out: wholeEventPath(executionId, eventId), _reason: 'too large for this page' }
}

export async function executionStatus(
  deps: ExecutionQueriesDeps & { stepProgress: StepProgress },
  id: ExecutionId,
): Promise<{ row: ExecutionRow; progress: StepCounts }> {
  const row = await findExecution(deps, id)
  return { row, progress: await deps.stepProgress(deps.databases.of(id), id) }
}
