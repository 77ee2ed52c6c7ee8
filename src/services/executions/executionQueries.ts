// Reads the read model: lists and single executions, never a scan of the log. A page over several shards is
// merged by start time; a shard that does not answer is named, and the others are shown.

import type { Databases } from '../../db/databases.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import { isSubscriptionLog, subscriptionInstead } from '../../domain/executions/kinds.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import type { CpError } from '../../errors.js'
import { type LatestEvent, readLatest, readStartContext } from '../../stores/events/eventStore.js'
import {
  type ExecutionFilter,
  type ExecutionRow,
  getExecution,
  type ListedExecution,
  listExecutions,
} from '../../stores/executions/executionStore.js'
import type { StepCounts, StepProgress } from './stepProgress.js'

export type { ExecutionRow } from '../../stores/executions/executionStore.js'

export interface ExecutionQueriesDeps {
  databases: Databases
}

export interface ExecutionPage {
  rows: ExecutionRow[]
  /** Where the next page starts; undefined on the last. */
  next: { startTime: string; executionId: string } | undefined
  failures: { shard: number; error: CpError }[]
}

export async function pageOfExecutions(
  { databases }: ExecutionQueriesDeps,
  filter: ExecutionFilter,
): Promise<ExecutionPage> {
  // One more than asked for tells whether there is a next page.
  const wanted = { ...filter, limit: filter.limit + 1 }
  const { answers, failures } = await databases.fanOut((db) => listExecutions(db, wanted))
  const merged = answers.flatMap((answer) => answer.value).sort(newestFirst)
  const rows = merged.slice(0, filter.limit)
  const last = rows[rows.length - 1]
  const next =
    merged.length > filter.limit && last !== undefined
      ? { startTime: last.listed_at, executionId: last.execution_id }
      : undefined
  return { rows, next, failures }
}

function newestFirst(left: ListedExecution, right: ListedExecution): number {
  // Both times come from the same server settings, so their texts compare like the instants.
  if (left.listed_at !== right.listed_at) return left.listed_at < right.listed_at ? 1 : -1
  return BigInt(left.execution_id) < BigInt(right.execution_id) ? 1 : -1
}

export async function findExecution({ databases }: ExecutionQueriesDeps, id: ExecutionId): Promise<ExecutionRow> {
  const row = await getExecution(databases.of(id), id)
  if (row === undefined) throw noSuchExecution(id)
  if (isSubscriptionLog(row.start_event_type)) throw subscriptionInstead(id)
  return row
}

export interface ExecutionDetail {
  row: ExecutionRow
  workload: JsonValue
  /** Newest first. */
  events: LatestEvent[]
}

export async function executionDetail(
  deps: ExecutionQueriesDeps,
  id: ExecutionId,
  eventLimit: number,
): Promise<ExecutionDetail> {
  const db = deps.databases.of(id)
  const row = await findExecution(deps, id)
  const [events, context] = await Promise.all([
    readLatest(db, id, eventLimit),
    row.start_event_id === null ? null : readStartContext(db, id, row.start_event_id),
  ])
  const workload = isJsonObject(context) ? (context['workload'] ?? null) : null
  return { row, workload, events }
}

export async function executionStatus(
  deps: ExecutionQueriesDeps & { stepProgress: StepProgress },
  id: ExecutionId,
): Promise<{ row: ExecutionRow; progress: StepCounts }> {
  const row = await findExecution(deps, id)
  return { row, progress: await deps.stepProgress(deps.databases.of(id), id) }
}
