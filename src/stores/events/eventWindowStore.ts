// A window of an execution's events by their place in id order, with what a list shows of each.
import type { Queryable } from '../../db/db.js'
import { queries } from '../../db/queries.js'

const q = queries('event_window', 'event_matches')

export interface WindowRow {
  /** Of all that match. */
  total: number
  /** From 1, among all events of the execution. Null: the window is empty, and so is the rest of the row. */
  place: number | null
  event_id: string
  stream_version: string | null
  event_type: string | null
  node_id: string | null
  node_name: string | null
  node_type: string | null
  status: string | null
  worker_id: string | null
  created_at: string
  duration: number | null
  error: string | null
  context_bytes: number
  result_bytes: number
  meta_bytes: number
}

export interface EventWindow {
  offset: number
  limit: number
  newestFirst: boolean
}

export interface EventMatch {
  types: readonly string[] | null
  steps: readonly string[] | null
  /** In small letters. */
  statuses: readonly string[] | null
  /** For LIKE; the caller escapes what people typed. */
  pattern: string | null
  eventId: string | null
}

export function readWindow(
  db: Queryable,
  executionId: string,
  { offset, limit, newestFirst }: EventWindow,
  match: EventMatch | undefined,
): Promise<WindowRow[]> {
  const window = [executionId, offset, limit, newestFirst]
  if (match === undefined) return db.run<WindowRow>(q.event_window, window)
  const { types, steps, statuses, pattern, eventId } = match
  return db.run<WindowRow>(q.event_matches, [...window, types, steps, statuses, pattern, eventId])
}
