// Pages of the list of executions. A page over several shards is merged by start time; a shard that does not answer is
// named, and the others are shown. What no index finds is looked for among the first alone, and the page says how far it
// looked: the next one goes on from there.
import type { Databases } from '../../db/databases.js'
import type { Queryable } from '../../db/db.js'
import type { CpError } from '../../errors.js'
import {
  type ExecutionFilter,
  isKnownId,
  type ListedExecution,
  type ListPlace,
  lastOfFirst,
  listExecutions,
  needsLook,
} from '../../stores/executions/executionListStore.js'
import type { ExecutionRow } from '../../stores/executions/executionStore.js'

export interface ExecutionPage {
  rows: ExecutionRow[]
  /** Where the next page starts; undefined on the last. */
  next: { startTime: string; executionId: string } | undefined
  /** When the last execution began that was looked at, if those behind it were not; as Postgres writes it. */
  lookedUntil: string | undefined
  failures: { shard: number; error: CpError }[]
}

/** On each database, for one page. */
const LOOKED_MAX = 50_000
/** What has so many digits is meant as an id, wherever else it may occur. */
const ID_DIGITS_MIN = 15

export async function pageOfExecutions(
  { databases }: { databases: Databases },
  filter: ExecutionFilter,
  lookedMax = LOOKED_MAX,
): Promise<ExecutionPage> {
  // One more than asked for tells whether there is a next page.
  const wanted = { ...(await byIdAlone(databases, filter)), limit: filter.limit + 1 }
  const { answers, failures } = await databases.fanOut((db) => look(db, wanted, lookedMax))
  const inOrder = filter.isOldestFirst === true ? oldestFirst : newestFirst
  const ends = answers.flatMap(({ value }) => value.end ?? [])
  const end = ends.sort(inOrder)[0]
  const found = answers.flatMap(({ value }) => value.rows)
  // What one database has beyond the end of another comes with the next page: there may be some in between.
  const merged = found.filter((row) => end === undefined || inOrder(row, end) <= 0).sort(inOrder)
  const rows = merged.slice(0, filter.limit)
  const isFull = merged.length > filter.limit
  const last = isFull ? rows.at(-1) : end
  return {
    rows,
    next: last === undefined ? undefined : { startTime: last.listed_at, executionId: last.execution_id },
    lookedUntil: isFull ? undefined : end?.listed_at,
    failures,
  }
}

/** Page after page until there are as many as asked for, or no more: for whoever can wait. */
export async function searchExecutions(
  deps: { databases: Databases },
  filter: ExecutionFilter,
): Promise<Omit<ExecutionPage, 'lookedUntil'>> {
  const rows: ExecutionRow[] = []
  let { after } = filter
  for (;;) {
    const { next, failures, ...page } = await pageOfExecutions(deps, {
      ...filter,
      after,
      limit: filter.limit - rows.length,
    })
    rows.push(...page.rows)
    if (next === undefined || rows.length >= filter.limit || failures.length > 0) return { rows, next, failures }
    after = next
  }
}

/** `end`: the last one that was looked at, when that is not because the page is full. */
async function look(
  db: Queryable,
  filter: ExecutionFilter,
  lookedMax: number,
): Promise<{ rows: ListedExecution[]; end: ListPlace | undefined }> {
  const end = needsLook(filter) ? await lastOfFirst(db, filter, lookedMax) : undefined
  const rows = await listExecutions(db, filter, end)
  return { rows, end: rows.length < filter.limit ? end : undefined }
}

/** An id that exists is found by indexes, however old it is. */
async function byIdAlone(databases: Databases, filter: ExecutionFilter): Promise<ExecutionFilter> {
  const { textId } = filter
  if (textId == null || textId.length < ID_DIGITS_MIN) return filter
  const { answers } = await databases.fanOut((db) => isKnownId(db, textId))
  return answers.some(({ value }) => value) ? { ...filter, textPattern: null } : filter
}

function oldestFirst(left: ListPlace, right: ListPlace): number {
  return newestFirst(right, left)
}

function newestFirst(left: ListPlace, right: ListPlace): number {
  // Both times come from the same server settings, so their texts compare like the instants.
  if (left.listed_at !== right.listed_at) return left.listed_at < right.listed_at ? 1 : -1
  const [a, b] = [BigInt(left.execution_id), BigInt(right.execution_id)]
  return a === b ? 0 : a < b ? 1 : -1
}
