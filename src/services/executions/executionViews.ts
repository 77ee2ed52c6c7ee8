// Executions as clients list and show them: the read model with the version of their catalog entry, their result and how
// far they have come.
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { JsonValue } from '../../domain/json/value.js'
import type { EventPage } from '../../stores/events/eventStore.js'
import type { ExecutionFilter } from '../../stores/executions/executionListStore.js'
import type { EntryNames } from '../catalog/entryNames.js'
import { type ExecutionPage, pageOfExecutions } from './executionPages.js'
import {
  type ExecutionDetail,
  type ExecutionQueriesDeps,
  type ExecutionRow,
  executionDetail,
  resultsOf,
} from './executionQueries.js'
import type { StepCounts, StepProgress } from './stepProgress.js'

export interface ExecutionViewsDeps extends ExecutionQueriesDeps {
  entryNames: EntryNames
  stepProgress: StepProgress
}

/** Null: the catalog does not have the entry any more, or never had. */
export type NamedExecution = ExecutionRow & { version: number | null }

/** Without progress: it has ended, or its log is too long to be counted for a list. */
export type ListedView = NamedExecution & { result: JsonValue; progress: StepCounts | undefined }

const LISTED_RESULT_BYTES_MAX = 16 * 1024
const COUNTED_EVENTS_MAX = 10_000
const SIDE_BY_SIDE = 4

export async function listedExecutions(
  deps: ExecutionViewsDeps,
  filter: ExecutionFilter,
): Promise<Omit<ExecutionPage, 'rows'> & { rows: ListedView[] }> {
  const page = await pageOfExecutions(deps, filter)
  const [rows, results, progress] = await Promise.all([
    named(deps, page.rows),
    listedResults(deps, page.rows),
    listedProgress(deps, page.rows),
  ])
  return {
    ...page,
    rows: rows.map((row) => ({
      ...row,
      result: results.get(row.execution_id) ?? null,
      progress: progress.get(row.execution_id),
    })),
  }
}

async function listedResults(
  { databases }: ExecutionViewsDeps,
  rows: readonly ExecutionRow[],
): Promise<Map<string, JsonValue>> {
  const found = await Promise.all(
    databases.shards.map(({ db }, shard) => {
      const own = rows.filter((row) => databases.shardOf(row.execution_id) === shard)
      return resultsOf(db, own, LISTED_RESULT_BYTES_MAX)
    }),
  )
  return new Map(found.flatMap((results) => Array.from(results)))
}

/** Of those that run. What was read for the list before is remembered, so each costs what is new in it. */
async function listedProgress(
  { databases, stepProgress }: ExecutionViewsDeps,
  rows: readonly ExecutionRow[],
): Promise<Map<string, StepCounts>> {
  const waiting = rows.filter((row) => !isTerminalStatus(row.status) && Number(row.event_count) <= COUNTED_EVENTS_MAX)
  const found = new Map<string, StepCounts>()
  const worker = async (): Promise<void> => {
    for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
      const { execution_id: id, stream_version: head } = row
      found.set(id, await stepProgress(databases.of(id), id, head))
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
  return found
}

export type ShownExecution = Omit<ExecutionDetail, 'row'> & { row: NamedExecution; progress: StepCounts | undefined }

/** To count the steps of a long log takes as long as to read it: nobody waits for that who asks for no events, or of one that has ended. */
export async function shownExecution(
  deps: ExecutionViewsDeps,
  id: ExecutionId,
  page: EventPage,
  pageBytes: number,
): Promise<ShownExecution> {
  const detail = await executionDetail(deps, id, page, pageBytes)
  const isCounted = page.limit > 0 && !isTerminalStatus(detail.row.status)
  const [[row], progress] = await Promise.all([
    named(deps, [detail.row]),
    isCounted
      ? deps.stepProgress(deps.databases.of(id), id, detail.row.stream_version)
      : listedProgress(deps, [detail.row]).then((counts) => counts.get(id)),
  ])
  return { ...detail, row: row!, progress }
}

async function named(deps: ExecutionViewsDeps, rows: readonly ExecutionRow[]): Promise<NamedExecution[]> {
  const names = await deps.entryNames(rows.map((row) => row.catalog_id))
  return rows.map((row) => {
    const name = names.get(row.catalog_id)
    return { ...row, path: row.path ?? name?.path ?? null, version: name?.version ?? null }
  })
}
