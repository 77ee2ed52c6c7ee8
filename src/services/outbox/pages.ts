// Rows of the outbox page by page, over all shards. One that does not answer is named, and what the others have is there; where it
// comes back while somebody goes on, its rows come with the next page.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import type { Cursor, Place } from '../../domain/outbox/cursor.js'
import { CpError, toCpError } from '../../errors.js'
import {
  type DeadFilter,
  type ListedRow,
  listDeadRows,
  listRows,
  type OutboxStatus,
} from '../../stores/outbox/outboxAdminStore.js'

export type { DeadFilter, ListedRow, OutboxStatus } from '../../stores/outbox/outboxAdminStore.js'

export interface OutboxPage {
  rows: (ListedRow & { shard: number })[]
  /** Where the next page starts; undefined on the last. */
  next: Cursor | undefined
  /** What they hold is missing here. */
  failures: { shard: number; error: CpError }[]
}

export interface PageDeps {
  databases: Databases
}

export interface ListScope {
  shard?: number | undefined
  cursor?: Cursor | undefined
  limit: number
}

export function pageOfOutbox(
  deps: PageDeps,
  scope: ListScope & { status?: OutboxStatus | undefined; executionId?: string | undefined },
): Promise<OutboxPage> {
  const { status, executionId } = scope
  return pageOver(deps, withinExecution(deps, scope), (db, after, limit) =>
    listRows(db, { status, executionId, after, limit }),
  )
}

export function pageOfDead(deps: PageDeps, scope: ListScope & DeadFilter): Promise<OutboxPage> {
  return pageOver(deps, withinExecution(deps, scope), (db, after, limit) =>
    listDeadRows(db, { ...scope, after, limit }),
  )
}

/** All rows of an execution are in its own database. */
function withinExecution<T extends ListScope & { executionId?: string | undefined }>(
  { databases }: PageDeps,
  scope: T,
): T {
  return scope.executionId === undefined ? scope : { ...scope, shard: databases.shardOf(scope.executionId) }
}

/** Shard by shard, each in the order of its ids; before them what a page before could not read. Throws where none answers. */
async function pageOver(
  { databases }: PageDeps,
  { shard: only, cursor, limit }: ListScope,
  read: (db: Db, after: string, limit: number) => Promise<ListedRow[]>,
): Promise<OutboxPage> {
  const page: OutboxPage = { rows: [], next: undefined, failures: [] }
  const skipped = cursor?.skipped ?? []
  const inOrder = placesFrom(cursor ?? { shard: only ?? 0, after: '0' }, only ?? databases.shards.length - 1)
  const unread = new Map(skipped.map((place) => [place.shard, place]))
  for (const [index, place] of [...skipped, ...inOrder].entries()) {
    const { shard, after } = place
    const room = limit - page.rows.length
    const db = databaseOf(databases, shard)
    let found: ListedRow[]
    try {
      // One more than there is room for tells whether anything comes after.
      found = await read(db, after, room + 1)
    } catch (error) {
      page.failures.push({ shard, error: toCpError(error) })
      unread.set(shard, place)
      continue
    }
    const shown = found.slice(0, room)
    page.rows.push(...shown.map((row) => ({ ...row, shard })))
    if (found.length > room) {
      const stopped = { shard, after: shown.at(-1)?.outbox_id ?? after }
      const isSkipped = index < skipped.length
      if (isSkipped) unread.set(shard, stopped)
      page.next = cursorOf(isSkipped ? cursor! : stopped, [...unread.values()])
      return page
    }
    unread.delete(shard)
  }
  if (page.failures.length === skipped.length + inOrder.length) throw page.failures[0]!.error
  return page
}

function placesFrom({ shard, after }: Place, last: number): Place[] {
  const others = Array.from({ length: Math.max(0, last - shard) }, (_, index) => ({
    shard: shard + 1 + index,
    after: '0',
  }))
  return [{ shard, after }, ...others]
}

function cursorOf({ shard, after }: Place, skipped: Place[]): Cursor {
  return skipped.length === 0 ? { shard, after } : { shard, after, skipped }
}

export function databaseOf(databases: Databases, shard: number): Db {
  const named = databases.shards[shard]
  if (named === undefined)
    throw new CpError('invalid_input', `--shard must be from 0 to ${databases.shards.length - 1}, not ${shard}`)
  return named.db
}
