// Executions as clients list and show them: the read model, with the version of their catalog entry.
import type { ExecutionId } from '../../domain/ids/ids.js'
import type { EventPage } from '../../stores/events/eventStore.js'
import type { ExecutionFilter } from '../../stores/executions/executionStore.js'
import type { EntryNames } from '../catalog/entryNames.js'
import {
  type ExecutionDetail,
  type ExecutionPage,
  type ExecutionQueriesDeps,
  type ExecutionRow,
  executionDetail,
  pageOfExecutions,
} from './executionQueries.js'
import type { StepCounts, StepProgress } from './stepProgress.js'

export interface ExecutionViewsDeps extends ExecutionQueriesDeps {
  entryNames: EntryNames
  stepProgress: StepProgress
}

/** Null: the catalog does not have the entry any more, or never had. */
export type NamedExecution = ExecutionRow & { version: number | null }

export async function listedExecutions(
  deps: ExecutionViewsDeps,
  filter: ExecutionFilter,
): Promise<Omit<ExecutionPage, 'rows'> & { rows: NamedExecution[] }> {
  const page = await pageOfExecutions(deps, filter)
  return { ...page, rows: await named(deps, page.rows) }
}

export async function shownExecution(
  deps: ExecutionViewsDeps,
  id: ExecutionId,
  page: EventPage,
  pageBytes: number,
): Promise<Omit<ExecutionDetail, 'row'> & { row: NamedExecution; progress: StepCounts }> {
  const [detail, progress] = await Promise.all([
    executionDetail(deps, id, page, pageBytes),
    deps.stepProgress(deps.databases.of(id), id),
  ])
  const [row] = await named(deps, [detail.row])
  return { ...detail, row: row!, progress }
}

async function named(deps: ExecutionViewsDeps, rows: readonly ExecutionRow[]): Promise<NamedExecution[]> {
  const names = await deps.entryNames(rows.map((row) => row.catalog_id))
  return rows.map((row) => {
    const name = names.get(row.catalog_id)
    return { ...row, path: row.path ?? name?.path ?? null, version: name?.version ?? null }
  })
}
