// A window of an execution's events, for lists that show any part of a long log: by place in id order, or among those
// that match. Payloads are told by their size; whoever wants one asks for that event.
import type { Databases } from '../../db/databases.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { type EventMatch, type EventWindow, readWindow, type WindowRow } from '../../stores/events/eventWindowStore.js'
import { findExecution } from '../executions/executionQueries.js'

export type WindowEvent = WindowRow & { place: number }

export interface ShownWindow {
  total: number
  events: WindowEvent[]
}

export async function eventWindow(
  deps: { databases: Databases },
  id: ExecutionId,
  window: EventWindow,
  match: EventMatch,
): Promise<ShownWindow> {
  const isFiltered = Object.values(match).some((value) => value !== null)
  const rows = await readWindow(deps.databases.of(id), id, window, isFiltered ? match : undefined)
  const total = rows[0]?.total ?? 0
  // Nothing at all is either an execution without events or none.
  if (total === 0) await findExecution(deps, id)
  return { total, events: rows.filter((row): row is WindowEvent => row.place !== null) }
}
