// Retention: forgets executions that ended before a cutoff. A partition of the event table goes as a whole,
// and only when everything in it may go; rows of the default partition go execution by execution. Then the
// read model follows. Each step can be cut off at any point and is completed by the next run. Whatever stays
// although it is old enough is reported with the reason.

import type { Databases } from '../../db/databases.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { agedRanges, type IdRange, isWithin } from '../../domain/retention/eventPartition.js'
import { isTransient, toCpError } from '../../errors.js'
import {
  databaseNowMs,
  dropPartition,
  type EventPartition,
  limitLockWait,
  listPartitions,
  lockPartition,
  lockPartitions,
} from '../../stores/retention/partitionStore.js'
import {
  contentsOf,
  eventColumns,
  type RangeContents,
  runningIn,
  touchedSince,
  unknownIn,
  unpublishedIn,
} from '../../stores/retention/retentionStore.js'
import type { KeptPartition, RetentionPass, RetentionReport, RetentionRequest } from './retentionPass.js'
import { forgetOldSubscriptions, keptSubscriptions } from './retentionSubscriptions.js'
import { sweepDefault, sweepReadModel } from './retentionSweep.js'

const LOCK_TIMEOUT_MS = 2_000
// A partition is read once from end to end; half a billion rows fit into this.
const SCAN_DEADLINE_MS = 900_000

/** Every shard on its own: one that fails is reported and does not stop the others. */
export function applyRetention(databases: Databases, request: RetentionRequest): Promise<RetentionReport[]> {
  return Promise.all(
    databases.shards.map(({ label, db }) => applyToShard(label, { db, clusterDb: databases.cluster.db }, request)),
  )
}

async function applyToShard(
  shard: string,
  { db, clusterDb }: Pick<RetentionPass, 'db' | 'clusterDb'>,
  request: RetentionRequest,
): Promise<RetentionReport> {
  const report: RetentionReport = {
    shard,
    cutoff: wireTimeFromMillis(0),
    dropped: [],
    kept: [],
    defaultEventsDeleted: 0,
    subscriptionEventsKept: 0,
    defaultExecutionsKept: { running: 0, recent: 0, unpublished: 0, unknown: 0, subscription: 0 },
    executionsDeleted: 0,
    snapshotsDeleted: 0,
    projectionsDeleted: 0,
    dedupRecordsDeleted: 0,
    error: undefined,
  }
  try {
    const nowMs = await databaseNowMs(db)
    const cutoffMs = nowMs - request.olderThanMs
    const pass: RetentionPass = {
      db,
      clusterDb,
      forgotten: new Set(),
      cutoff: wireTimeFromMillis(cutoffMs),
      startedAt: wireTimeFromMillis(nowMs),
      aged: agedRanges(cutoffMs, nowMs),
      dryRun: request.dryRun,
      signal: request.signal,
    }
    report.cutoff = pass.cutoff
    pass.forgotten = await forgetOldSubscriptions(pass)
    await dropPartitions(pass, report)
    await sweepDefault(pass, report)
    await sweepReadModel(pass, report)
  } catch (error) {
    report.error = toCpError(error)
  }
  return report
}

async function dropPartitions(pass: RetentionPass, report: RetentionReport): Promise<void> {
  for (const partition of await listPartitions(pass.db)) {
    const { range } = partition
    if (pass.signal?.aborted) return
    if (range === undefined || !pass.aged.some((aged) => isWithin(range, aged))) continue
    const judged = await judge(pass, partition, range)
    if ('reason' in judged) {
      report.kept.push({ name: partition.name, ...judged })
      continue
    }
    // Read in the other layout, the months we made ahead of time look old as well: they are just empty yet.
    if (judged.events === '0' && !isWithin(range, pass.aged[0]!)) continue
    const moved = pass.dryRun ? 0 : await drop(pass, partition.name, range)
    if (moved !== undefined) {
      report.subscriptionEventsKept += moved
      report.dropped.push({ name: partition.name, events: judged.events, executions: judged.executions })
      if (pass.dryRun) report.executionsDeleted += Number(judged.executions)
    } else {
      const detail = 'it was in use at this moment; the next run tries again'
      report.kept.push({ name: partition.name, reason: 'busy', detail })
    }
  }
}

type Verdict = RangeContents | Pick<KeptPartition, 'reason' | 'detail'>

/** The cheap questions first: the last one reads the partition. */
async function judge(pass: RetentionPass, partition: EventPartition, range: IdRange): Promise<Verdict> {
  const { db, cutoff } = pass
  if (!partition.isPlain) {
    return { reason: 'by_hand', detail: 'it is not a plain table of schema noetl; drop it by hand' }
  }
  const running = await runningIn(db, range)
  if (running.count !== '0') {
    const detail = `${running.count} execution(s) have not ended, for instance ${running.execution_id}`
    return { reason: 'running', detail }
  }
  const unpublished = await unpublishedIn(db, range)
  if (unpublished !== '0') return { reason: 'unpublished', detail: `${unpublished} outbox row(s) are not published` }
  const unknown = await unknownIn(db, range)
  if (unknown !== undefined) {
    return { reason: 'unknown', detail: `events of execution ${unknown} are not in the read model yet` }
  }
  const contents = await contentsOf(db, range, await keptSubscriptions(db, pass, range), cutoff, SCAN_DEADLINE_MS)
  return contents.has_recent ? { reason: 'recent', detail: `it holds events after ${cutoff}` } : contents
}

/**
 * Under the lock nothing can arrive any more; what arrived since we judged keeps the partition. Answers how many
 * events of subscriptions were moved out of it; undefined when it stays.
 */
async function drop(pass: RetentionPass, name: string, range: IdRange): Promise<number | undefined> {
  try {
    return await pass.db.tx(async (tx) => {
      await limitLockWait(tx, LOCK_TIMEOUT_MS)
      await lockPartitions(tx)
      await lockPartition(tx, name)
      if ((await runningIn(tx, range)).count !== '0' || (await unpublishedIn(tx, range)) !== '0') return undefined
      if (await touchedSince(tx, range, pass.startedAt, pass.cutoff)) return undefined
      const kept = { ids: await keptSubscriptions(tx, pass, range), columns: await eventColumns(tx) }
      return dropPartition(tx, name, kept)
    })
  } catch (error) {
    // Somebody reads or writes it; waiting longer would hold up everybody behind us.
    if (isTransient(error) && toCpError(error).code === 'timeout') return undefined
    throw error
  }
}
