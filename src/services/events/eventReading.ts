// Reads an execution's events for people and exports. Numbered events come in the order of their numbers, which
// is the order they were appended in; events that others wrote and nobody has numbered yet come after them. An
// event that gets its number while we read is not shown twice.

import type { Databases } from '../../db/databases.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { JsonObject } from '../../domain/json/value.js'
import { type FullEventRow, toEventDocument } from '../../stores/events/eventRows.js'
import { readAfterVersion } from '../../stores/events/eventStore.js'
import { readTail, readUnnumbered } from '../../stores/events/eventTransferStore.js'
import { getExecution } from '../../stores/executions/executionStore.js'

export interface EventReader {
  /** Everything that is new since the last call, page by page; nothing when there is nothing new. */
  pages(signal?: AbortSignal): AsyncIterable<JsonObject[]>
}

const PAGE = 500
const BEFORE_ALL = '-1'

/** From the first event. */
export async function readEvents(deps: { databases: Databases }, id: ExecutionId): Promise<EventReader> {
  const db = deps.databases.of(id)
  const [known, first] = await Promise.all([getExecution(db, id), readTail(db, id, 1)])
  if (known === undefined && first.length === 0) throw noSuchExecution(id)
  return createReader(deps, id, '0', new Set())
}

/** The last few events in order, and a reader of what comes after them. */
export async function tailEvents(
  deps: { databases: Databases },
  id: ExecutionId,
  limit: number,
): Promise<{ last: JsonObject[]; reader: EventReader }> {
  const db = deps.databases.of(id)
  // The position first: an event that comes in between is then in both, and dropped from the second.
  const known = await getExecution(db, id)
  const rows = await readTail(db, id, Math.max(1, limit))
  if (known === undefined && rows.length === 0) throw noSuchExecution(id)
  const seen = new Set<string>()
  for await (const page of unnumberedPages(deps, id)) for (const row of page) seen.add(row.event_id)
  for (const row of rows) seen.add(row.event_id)
  const last = rows.slice(0, limit).reverse().map(toEventDocument)
  return { last, reader: createReader(deps, id, known?.stream_version ?? '0', seen) }
}

/** `seen` holds events that were shown without a number; each leaves it when it is met again with one. */
function createReader(
  deps: { databases: Databases },
  id: ExecutionId,
  fromVersion: string,
  seen: Set<string>,
): EventReader {
  const db = deps.databases.of(id)
  let version = fromVersion

  async function* numbered(signal: AbortSignal | undefined): AsyncIterable<FullEventRow[]> {
    while (!signal?.aborted) {
      const rows = await readAfterVersion(db, id, version, PAGE)
      if (rows.length > 0) version = rows[rows.length - 1]!.stream_version!
      const fresh = rows.filter((row) => !seen.delete(row.event_id))
      if (fresh.length > 0) yield fresh
      if (rows.length < PAGE) return
    }
  }

  return {
    async *pages(signal) {
      for (;;) {
        for await (const rows of numbered(signal)) yield rows.map(toEventDocument)
        let found = 0
        for await (const rows of unnumberedPages(deps, id, signal)) {
          const fresh = rows.filter((row) => !seen.has(row.event_id))
          for (const row of fresh) seen.add(row.event_id)
          found += fresh.length
          if (fresh.length > 0) yield fresh.map(toEventDocument)
        }
        // Whoever got a number between the two looks is found by another round.
        if (found === 0 || signal?.aborted) {
          for await (const rows of numbered(signal)) yield rows.map(toEventDocument)
          return
        }
      }
    },
  }
}

async function* unnumberedPages(
  deps: { databases: Databases },
  id: ExecutionId,
  signal?: AbortSignal,
): AsyncIterable<FullEventRow[]> {
  const db = deps.databases.of(id)
  for (let after = BEFORE_ALL; !signal?.aborted; ) {
    const rows = await readUnnumbered(db, id, after, PAGE)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    after = rows[rows.length - 1]!.event_id
  }
}
