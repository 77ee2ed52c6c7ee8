// The list of executions: which ones, page by page or counted by time. What an index finds and what each row must be looked
// at for are told apart, so that whoever asks can bound the second.
import type { Queryable } from '../../db/db.js'
import type { Param } from '../../db/params.js'
import { queries } from '../../db/queries.js'
import type { Labels } from '../../domain/executions/labels.js'
import { writeJson } from '../../domain/json/write.js'
import type { ExecutionRow } from './executionStore.js'

const q = queries(
  'execution_list',
  'execution_list_oldest',
  'execution_looked',
  'execution_looked_oldest',
  'execution_known',
  'execution_histogram',
  'execution_oldest',
)

/** Which executions; what is left out or null does not matter. */
export interface ExecutionSelection {
  statuses?: readonly string[] | null
  catalogId: string | null
  /** A LIKE pattern; the caller escapes what people typed. */
  pathPattern: string | null
  since: string | null
  until: string | null
  parentExecutionId?: string | null
  /** Where it is, or ended. */
  step?: string | null
  tenantId?: string | null
  secondsMin?: number | null
  secondsMax?: number | null
  /** A LIKE pattern for path, step and error, the id that was typed, if it is one, and the worker that is called so. */
  textPattern?: string | null
  textId?: string | null
  textWorker?: string | null
  /** All of them. */
  labels?: Labels | null
  /** Holds, or held, a command of it. */
  workerId?: string | null
}

export interface ExecutionFilter extends ExecutionSelection {
  /** By when they began; otherwise the newest come first. */
  isOldestFirst?: boolean
  after: { startTime: string; executionId: string } | null
  limit: number
}

/** With the time it is sorted by: the start, or the first news of an execution whose start is unknown. */
export interface ListedExecution extends ExecutionRow {
  listed_at: string
}

/** An execution as a place in the list. */
export type ListPlace = Pick<ListedExecution, 'listed_at' | 'execution_id'>

/** `end`: the last one to look at. */
export function listExecutions(
  db: Queryable,
  filter: ExecutionFilter,
  end?: ListPlace | undefined,
): Promise<ListedExecution[]> {
  return db.run<ListedExecution>(filter.isOldestFirst === true ? q.execution_list_oldest : q.execution_list, [
    ...indexedValues(filter),
    ...lookedValues(filter),
    ...afterValues(filter),
    end?.listed_at ?? null,
    end?.execution_id ?? null,
    filter.limit,
  ])
}

/** Whether every row must be looked at. */
export function needsLook(selection: ExecutionSelection): boolean {
  const isOfText = selection.textPattern != null
  return isOfText || [selection.step, selection.tenantId, selection.secondsMin, selection.secondsMax].some(isGiven)
}

/** The last of so many that indexes find, in the order of the list; undefined when there are fewer. */
export async function lastOfFirst(
  db: Queryable,
  filter: ExecutionFilter,
  lookedMax: number,
): Promise<ListPlace | undefined> {
  const values = [...indexedValues(filter), ...afterValues(filter), lookedMax]
  const query = filter.isOldestFirst === true ? q.execution_looked_oldest : q.execution_looked
  return (await db.run<ListPlace>(query, values))[0]
}

/** Whether it is the id of an execution, of a parent or of a catalog entry that was run. */
export async function isKnownId(db: Queryable, id: string): Promise<boolean> {
  return (await db.run<{ is_known: boolean }>(q.execution_known, [id]))[0]!.is_known
}

function afterValues({ after }: ExecutionFilter): Param[] {
  return [after?.startTime ?? null, after?.executionId ?? null]
}

/** One status is compared, several are looked up: only the first lets an index give the order as well. */
function indexedValues(selection: ExecutionSelection): Param[] {
  const { statuses = null } = selection
  return [
    statuses?.length === 1 ? statuses[0]! : null,
    statuses === null || statuses.length === 1 ? null : statuses,
    selection.catalogId,
    selection.pathPattern,
    selection.since,
    selection.until,
    selection.parentExecutionId ?? null,
    selection.labels == null ? null : writeJson(selection.labels),
    selection.workerId ?? null,
  ]
}

function lookedValues(selection: ExecutionSelection): Param[] {
  return [
    selection.step ?? null,
    selection.tenantId ?? null,
    selection.secondsMin ?? null,
    selection.secondsMax ?? null,
    selection.textPattern ?? null,
    selection.textId ?? null,
    selection.textWorker ?? null,
  ]
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined
}

export interface HistogramCell {
  bucket: number
  status: string
  count: number
  /** There are more than were counted: the spans begin here. */
  counted_since: string | null
}

/** How many of them began in each of `buckets` equal spans between `since` and `until`, by status; of too many the newest. */
export function countByTime(
  db: Queryable,
  selection: ExecutionSelection & { since: string; until: string },
  buckets: number,
  countedMax: number,
): Promise<HistogramCell[]> {
  return db.run<HistogramCell>(q.execution_histogram, [
    ...indexedValues(selection),
    ...lookedValues(selection),
    buckets,
    countedMax,
  ])
}

/** When the first execution began; undefined when there is none. */
export async function oldestExecution(db: Queryable): Promise<string | undefined> {
  const [row] = await db.run<{ listed_at: string }>(q.execution_oldest)
  return row?.listed_at
}
