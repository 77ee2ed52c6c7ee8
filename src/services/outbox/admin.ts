// What an operator does with the outbox: look, retry, redrive, remove. Work goes in bounded pages over the
// shards, each row at most once per run, and a shard that does not answer is named beside the others.
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import type { Cursor } from '../../domain/outbox/cursor.js'
import { CpError, toCpError } from '../../errors.js'
import { type LeaseOwner, listLeaseOwners } from '../../stores/leases/leaseStore.js'
import {
  type Backlog,
  countDead,
  countPublished,
  countPublishedLastMinute,
  type DeadFilter,
  dropDeadRows,
  getRow,
  listRelays,
  purgeRows,
  type RelayRow,
  readBacklog,
  readOldestAge,
  redriveRows,
  retryRows,
  type ShownRow,
} from '../../stores/outbox/outboxAdminStore.js'
import { databaseOf, type OutboxPage, pageOfDead } from './pages.js'

export type { ShownRow } from '../../stores/outbox/outboxAdminStore.js'

export type LaneHolder = Omit<LeaseOwner, 'kind'>

export interface ShardStatus {
  shard: number
  label: string
  error?: CpError
  backlog?: Backlog
  dead?: number
  published?: { rows: number; isEstimate: boolean }
  /** Undefined when everything is published. */
  oldestAgeSeconds?: number | undefined
  publishedLastMinute?: number
  owners?: LaneHolder[]
  relays?: RelayRow[]
}

export interface AdminDeps {
  databases: Databases
}

export async function outboxStatus({ databases }: AdminDeps): Promise<ShardStatus[]> {
  return Promise.all(
    databases.shards.map(async ({ db, label }, shard) => {
      try {
        const [backlog, dead, published, oldestAgeSeconds, publishedLastMinute, owners, relays] = await Promise.all([
          readBacklog(db),
          countDead(db),
          countPublished(db),
          readOldestAge(db),
          countPublishedLastMinute(db),
          holdersOf(db),
          listRelays(db),
        ])
        return { shard, label, backlog, dead, published, oldestAgeSeconds, publishedLastMinute, owners, relays }
      } catch (error) {
        return { shard, label, error: toCpError(error) }
      }
    }),
  )
}

async function holdersOf(db: Db): Promise<LaneHolder[]> {
  return (await listLeaseOwners(db, 'outbox')).map(({ kind: _, ...holder }) => holder)
}

export async function showOutboxRow(
  { databases }: AdminDeps,
  outboxId: string,
  shard: number | undefined,
): Promise<ShownRow & { shard: number }> {
  if (shard !== undefined) {
    const row = await getRow(databaseOf(databases, shard), outboxId)
    if (row === undefined) throw unknownRow(outboxId)
    return { ...row, shard }
  }
  const { answers, failures } = await databases.fanOut((db) => getRow(db, outboxId))
  const found = answers.flatMap(({ shard: index, value }) => (value === undefined ? [] : [{ ...value, shard: index }]))
  if (found.length > 1) {
    const shards = found.map((row) => row.shard).join(' and ')
    throw new CpError('refused', `shards ${shards} both have a row ${outboxId}; say which with --shard`)
  }
  if (found[0] !== undefined) return found[0]
  if (failures[0] !== undefined) throw failures[0].error
  throw unknownRow(outboxId)
}

const PAGE = 500

export interface WorkScope {
  shard?: number | undefined
  limit: number
  signal?: AbortSignal | undefined
}

/** Failed rows need not wait for their time. Answers how many. */
export async function retryOutbox(
  { databases }: AdminDeps,
  scope: WorkScope & { executionId?: string | undefined; ids?: readonly string[] | undefined },
): Promise<number> {
  let done = 0
  for (const shard of shardsOf(databases, scope)) {
    let after = '0'
    while (done < scope.limit && scope.signal?.aborted !== true) {
      const limit = Math.min(PAGE, scope.limit - done)
      const ids = await retryRows(databaseOf(databases, shard), { ...scope, after, limit })
      done += ids.length
      if (ids.length < limit) break
      after = ids.reduce((most, id) => (BigInt(id) > BigInt(most) ? id : most), after)
    }
  }
  return done
}

export interface DeadWork {
  /** Rows that match, as far as the limit. */
  matched: number
  /** Rows that it was done to. */
  done: number
  /** The first of them. */
  sample: OutboxPage['rows']
  more: boolean
}

const SAMPLE = 20

type DeadScope = WorkScope &
  DeadFilter & { dryRun: boolean; onProgress?(sofar: Pick<DeadWork, 'matched' | 'done'>): void }

/** Dead rows start again from attempt 0. */
export function redriveDead(deps: AdminDeps, scope: DeadScope): Promise<DeadWork> {
  return forEachDead(deps, scope, redriveRows)
}

/** Dead rows go, unpublished; their events stay in the log. */
export function dropDead(deps: AdminDeps, scope: DeadScope): Promise<DeadWork> {
  return forEachDead(deps, scope, dropDeadRows)
}

/** Each is taken once, also when it dies again while this runs. */
async function forEachDead(
  deps: AdminDeps,
  scope: DeadScope,
  work: (db: Db, ids: readonly string[]) => Promise<number>,
): Promise<DeadWork> {
  const result: DeadWork = { matched: 0, done: 0, sample: [], more: false }
  let cursor: Cursor | undefined
  while (result.matched < scope.limit && scope.signal?.aborted !== true) {
    const page = await pageOfDead(deps, { ...scope, cursor, limit: Math.min(PAGE, scope.limit - result.matched) })
    // What was counted is what is done: a part that cannot be asked would be left out silently.
    if (page.failures[0] !== undefined) throw page.failures[0].error
    result.matched += page.rows.length
    result.sample.push(...page.rows.slice(0, SAMPLE - result.sample.length))
    if (!scope.dryRun) {
      for (const [shard, ids] of byShard(page.rows)) result.done += await work(databaseOf(deps.databases, shard), ids)
      scope.onProgress?.(result)
    }
    cursor = page.next
    if (cursor === undefined) return result
  }
  result.more = cursor !== undefined
  return result
}

function byShard(rows: OutboxPage['rows']): Map<number, string[]> {
  const groups = new Map<number, string[]>()
  for (const row of rows) groups.set(row.shard, [...(groups.get(row.shard) ?? []), row.outbox_id])
  return groups
}

export const PURGE_CHUNK = 5_000

/** Removes published rows of one database in bounded chunks; what is not settled is never touched. */
export async function purgeOutbox(
  db: Db,
  olderThanSeconds: number,
  options: { rowsMax: number; signal?: AbortSignal | undefined },
): Promise<{ purged: number; more: boolean }> {
  let purged = 0
  while (purged < options.rowsMax && options.signal?.aborted !== true) {
    const limit = Math.min(PURGE_CHUNK, options.rowsMax - purged)
    const removed = await purgeRows(db, olderThanSeconds, limit)
    purged += removed
    if (removed < limit) return { purged, more: false }
  }
  return { purged, more: true }
}

function shardsOf(
  databases: Databases,
  scope: { shard?: number | undefined; executionId?: string | undefined },
): number[] {
  const { executionId, shard } = scope
  if (executionId !== undefined) return [databases.shardOf(executionId)]
  return shard === undefined ? databases.shards.map((_, index) => index) : [shard]
}

function unknownRow(outboxId: string): CpError {
  return new CpError('not_found', `there is no outbox row ${outboxId}; published rows are removed after their window`)
}
