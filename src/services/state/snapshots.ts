// What an operator does with snapshots: look, hold against the log, make anew, remove those nobody needs.

import type { Databases } from '../../db/databases.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { CpError } from '../../errors.js'
import {
  listSnapshots,
  type PrunableRow,
  prunableDecisionKeys,
  prunableSnapshots,
  pruneDecisionKeys,
  pruneSnapshots,
  type SnapshotFilter,
  type SnapshotListRow,
} from '../../stores/state/stateSnapshotStore.js'
import type { ResidentThreads, SnapshotReport } from '../../workers/resident.js'
import { adoptAll } from '../events/adoption.js'
import { findExecution } from '../executions/executionQueries.js'

export type { SnapshotListRow } from '../../stores/state/stateSnapshotStore.js'
export type { SnapshotReport } from '../../workers/resident.js'

export interface SnapshotDeps {
  databases: Databases
  threads: ResidentThreads
}

export interface SnapshotPage {
  rows: (SnapshotListRow & { shard: number })[]
  failures: { shard: number; error: CpError }[]
}

export async function pageOfSnapshots(
  { databases }: Pick<SnapshotDeps, 'databases'>,
  filter: SnapshotFilter,
): Promise<SnapshotPage> {
  const { answers, failures } = await databases.fanOut((db) => listSnapshots(db, filter))
  const rows = answers.flatMap(({ shard, value }) => value.map((row) => ({ ...row, shard })))
  rows.sort((a, b) => order(a.aggregate_type, b.aggregate_type) || order(a.aggregate_id, b.aggregate_id))
  return { rows: rows.slice(0, filter.limit), failures }
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

export function verifySnapshotOf(deps: SnapshotDeps, executionId: string): Promise<SnapshotReport> {
  return deps.threads.ask(0, 'verify', { shard: deps.databases.shardOf(executionId), executionId })
}

export async function rebuildSnapshotOf(deps: SnapshotDeps, executionId: ExecutionId): Promise<{ version: number }> {
  const row = await findExecution(deps, executionId)
  if (isTerminalStatus(row.status)) {
    throw new CpError('refused', `execution ${executionId} is ${row.status}; it needs no snapshot any more`)
  }
  await adoptAll(deps.databases.of(executionId), executionId)
  return deps.threads.ask(0, 'rebuild', { shard: deps.databases.shardOf(executionId), executionId })
}

const COUNTED_MAX = 1_000_000
const SAMPLE = 20

/** What `pruneAll` would remove, counted up to a million of each in every database, and the first of it. */
export async function prunable({ databases }: Pick<SnapshotDeps, 'databases'>): Promise<{
  snapshots: number
  decisionKeys: number
  sample: PrunableRow[]
  failures: { shard: number; error: CpError }[]
}> {
  const { answers, failures } = await databases.fanOut(async (db) => ({
    ...(await prunableSnapshots(db, { countedMax: COUNTED_MAX, limit: SAMPLE })),
    keys: await prunableDecisionKeys(db, COUNTED_MAX),
  }))
  return {
    snapshots: answers.reduce((sum, { value }) => sum + value.matched, 0),
    decisionKeys: answers.reduce((sum, { value }) => sum + value.keys, 0),
    sample: answers.flatMap(({ value }) => value.rows).slice(0, SAMPLE),
    failures,
  }
}

const PRUNE_PAGE = 1_000

/** Snapshots and decision keys of executions that have ended or are gone, in small steps. */
export async function pruneAll(
  { databases }: Pick<SnapshotDeps, 'databases'>,
  { signal, onRemoved }: { signal?: AbortSignal; onRemoved?(snapshots: number): void } = {},
): Promise<{ snapshots: number; decisionKeys: number; failures: { shard: number; error: CpError }[] }> {
  const { answers, failures } = await databases.fanOut(async (db) => {
    const removed = { snapshots: 0, decisionKeys: 0 }
    for (let count = PRUNE_PAGE; count === PRUNE_PAGE && signal?.aborted !== true; ) {
      count = await pruneSnapshots(db, PRUNE_PAGE)
      removed.snapshots += count
      onRemoved?.(count)
    }
    for (let count = PRUNE_PAGE; count === PRUNE_PAGE && signal?.aborted !== true; ) {
      count = await pruneDecisionKeys(db, PRUNE_PAGE)
      removed.decisionKeys += count
    }
    return removed
  })
  return {
    snapshots: answers.reduce((sum, { value }) => sum + value.snapshots, 0),
    decisionKeys: answers.reduce((sum, { value }) => sum + value.decisionKeys, 0),
    failures,
  }
}
