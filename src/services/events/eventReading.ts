// Reads an execution's events for people and exports. Numbered events come in the order of their numbers, which
// is the order they were appended in; events that others wrote and nobody has numbered yet come after them. An
// event that gets its number while we read is not shown twice.

import type { Databases } from '../../db/databases.js'
import { writeExportedEvent } from '../../domain/events/exportedEvent.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { numberedIds, readWhole, tailIds, unnumberedIds } from '../../stores/events/eventTransferStore.js'
import { getExecution } from '../../stores/executions/executionStore.js'

export interface EventReader {
  /** Everything that is new since the last call as lines of an export, page by page. */
  pages(signal?: AbortSignal): AsyncIterable<string[]>
}

const PAGE = 500
const BEFORE_ALL = '-9223372036854775808'

/** From the first event, or after a version. */
export async function readEvents(
  deps: { databases: Databases },
  id: ExecutionId,
  afterVersion = '0',
): Promise<EventReader> {
  const db = deps.databases.of(id)
  const [known, first] = await Promise.all([getExecution(db, id), tailIds(db, id, 1)])
  if (known === undefined && first.length === 0) throw noSuchExecution(id)
  return createReader(deps, id, afterVersion, new Set())
}

/** The last few events in order, and a reader of what comes after them. */
export async function tailEvents(
  deps: { databases: Databases },
  id: ExecutionId,
  limit: number,
): Promise<{ last: string[]; reader: EventReader }> {
  const db = deps.databases.of(id)
  // The position first: an event that comes in between is then in both, and dropped from the second.
  const known = await getExecution(db, id)
  const ids = await tailIds(db, id, Math.max(1, limit))
  if (known === undefined && ids.length === 0) throw noSuchExecution(id)
  const seen = new Set<string>()
  for await (const page of unnumberedPages(deps, id)) for (const eventId of page) seen.add(eventId)
  for (const eventId of ids) seen.add(eventId)
  const last = await linesOf(deps, id, ids.slice(0, limit).reverse())
  return { last, reader: createReader(deps, id, known?.stream_version ?? '0', seen) }
}

async function linesOf({ databases }: { databases: Databases }, id: ExecutionId, ids: string[]): Promise<string[]> {
  return (await readWhole(databases.of(id), id, ids)).map(writeExportedEvent)
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

  async function* numbered(signal: AbortSignal | undefined): AsyncIterable<string[]> {
    while (!signal?.aborted) {
      const rows = await numberedIds(db, id, version, PAGE)
      const fresh = rows.map((row) => row.event_id).filter((eventId) => !seen.has(eventId))
      const lines = await linesOf(deps, id, fresh)
      // Only now: whoever is interrupted before this point comes back for the page.
      for (const row of rows) seen.delete(row.event_id)
      if (rows.length > 0) version = rows[rows.length - 1]!.stream_version
      if (lines.length > 0) yield lines
      if (rows.length < PAGE) return
    }
  }

  return {
    async *pages(signal) {
      for (;;) {
        yield* numbered(signal)
        let found = 0
        for await (const ids of unnumberedPages(deps, id, signal)) {
          const fresh = ids.filter((eventId) => !seen.has(eventId))
          const lines = await linesOf(deps, id, fresh)
          for (const eventId of fresh) seen.add(eventId)
          found += fresh.length
          if (lines.length > 0) yield lines
        }
        // Whoever got a number between the two looks is found by another round.
        if (found === 0 || signal?.aborted) {
          yield* numbered(signal)
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
): AsyncIterable<string[]> {
  const db = deps.databases.of(id)
  for (let after = BEFORE_ALL; !signal?.aborted; ) {
    const ids = await unnumberedIds(db, id, after, PAGE)
    if (ids.length > 0) yield ids
    if (ids.length < PAGE) return
    after = ids[ids.length - 1]!
  }
}
