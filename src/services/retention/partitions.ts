// Makes the monthly partitions of the event table ahead of time, on every shard. Several daemons may do this
// at once: a lock in the database lets one in after the other, and the next finds nothing left to do. A range
// that meets a partition of somebody else, or rows in the default partition, is left alone and reported.
import type { Databases } from '../../db/databases.js'
import type { Db, Tx } from '../../db/db.js'
import { isCovered, type MonthPartition, monthPartitions, overlaps } from '../../domain/retention/eventPartition.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { withDeadline } from '../../runtime/deadline.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import {
  createPartition,
  databaseNowMs,
  defaultHolds,
  limitLockWait,
  listPartitions,
  lockPartitions,
} from '../../stores/retention/partitionStore.js'

export interface SkippedPartition {
  name: string
  /** covered: others hold the whole range. overlaps: only part of it. default_rows: rows are in the way. */
  reason: 'covered' | 'overlaps' | 'default_rows'
}

export interface PartitionReport {
  shard: string
  created: string[]
  skipped: SkippedPartition[]
  error: CpError | undefined
}

// Everybody who wants the table queues behind us while we wait, so we do not wait long.
const LOCK_TIMEOUT_MS = 2_000
const DDL_DEADLINE_MS = 15_000

/** Every shard on its own: one that fails is reported and does not stop the others. */
export function ensurePartitions(databases: Databases, ahead: number): Promise<PartitionReport[]> {
  return Promise.all(
    databases.shards.map(async ({ label, db }) => {
      const report: PartitionReport = { shard: label, created: [], skipped: [], error: undefined }
      try {
        for (const wanted of monthPartitions(await databaseNowMs(db), ahead)) await ensureOne(db, wanted, report)
      } catch (error) {
        report.error = toCpError(error)
      }
      return report
    }),
  )
}

async function ensureOne(db: Db, wanted: MonthPartition, report: PartitionReport): Promise<void> {
  const outcome = await db.tx(
    async (tx) => {
      // Even printing a bound takes a lock on the partition.
      await limitLockWait(tx, LOCK_TIMEOUT_MS)
      // Nearly every pass finds everything in place and needs no turn of its own.
      const before = await neighbours(tx, wanted)
      if (before !== undefined) return before
      await lockPartitions(tx)
      const found = (await neighbours(tx, wanted)) ?? ((await defaultHolds(tx, wanted)) ? 'default_rows' : undefined)
      if (found === undefined) await createPartition(tx, wanted)
      return found
    },
    { deadlineMs: DDL_DEADLINE_MS },
  )
  if (outcome === undefined) report.created.push(wanted.name)
  else if (outcome !== 'present') report.skipped.push({ name: wanted.name, reason: outcome })
}

async function neighbours(tx: Tx, wanted: MonthPartition): Promise<'present' | 'covered' | 'overlaps' | undefined> {
  const partitions = await listPartitions(tx)
  if (partitions.some((partition) => partition.name === wanted.name)) return 'present'
  const ranges = partitions.flatMap((partition) => partition.range ?? [])
  if (!ranges.some((range) => overlaps(range, wanted))) return undefined
  return isCovered(wanted, ranges) ? 'covered' : 'overlaps'
}

export interface PartitionLoopDeps {
  databases: Databases
  clock: Clock
  random: () => number
  ahead: number
  onReport(report: PartitionReport): void
  onError(error: CpError, consecutive: number): void
}

const PASS_MS = 3_600_000
const RETRY_MS = 5_000
const RETRY_MS_MAX = 300_000
const FIRST_PASS_MS = 6_000

export function createPartitionLoop(deps: PartitionLoopDeps): PollLoop {
  const { databases, ahead } = deps
  const loop = createPollLoop({
    name: 'partitions',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: RETRY_MS,
    errorMsMax: RETRY_MS_MAX,
    onError: deps.onError,
    runOnce: async () => {
      const reports = await ensurePartitions(databases, ahead)
      for (const report of reports) deps.onReport(report)
      const failed = reports.find((report) => report.error !== undefined)
      if (failed?.error !== undefined) throw failed.error
      return 'idle'
    },
  })
  return {
    ...loop,
    start: async () => {
      // Before the first event can arrive: one row in the default partition would block its whole month. A
      // shard that is away must not hold up the start, though; the loop comes back to it.
      const first = ensurePartitions(databases, ahead).then((reports) => {
        for (const report of reports) if (report.error === undefined) deps.onReport(report)
      })
      await withDeadline(first, FIRST_PASS_MS, { what: 'making partitions' }).catch(() => undefined)
      await loop.start()
    },
  }
}
