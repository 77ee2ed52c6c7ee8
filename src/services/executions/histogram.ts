// How many executions began when, by status: one grouped query per database, put together here.
import type { Databases } from '../../db/databases.js'
import {
  type WireTime,
  wireTimeFromMicros,
  wireTimeFromMillis,
  wireTimeFromPostgres,
  wireTimeToMicros,
} from '../../domain/events/wireTime.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { countByTime, type ExecutionSelection, oldestExecution } from '../../stores/executions/executionStore.js'

export interface Bucket {
  from: WireTime
  to: WireTime
  byStatus: Record<string, number>
}

export interface Histogram {
  buckets: Bucket[]
  failures: { shard: number; error: CpError }[]
}

/** Without `since` it begins with the first execution, without `until` it ends now. */
export async function executionHistogram(
  { databases, clock }: { databases: Databases; clock: Clock },
  selection: ExecutionSelection,
  count: number,
): Promise<Histogram> {
  const until = (selection.until ?? wireTimeFromMillis(clock.now())) as WireTime
  const since = (selection.since ?? (await begins(databases)) ?? until) as WireTime
  const start = wireTimeToMicros(since)
  const width = (wireTimeToMicros(until) - start) / BigInt(count)
  if (width <= 0n) {
    if (selection.since !== null && selection.until !== null) {
      throw new CpError('invalid_input', 'until must be after since', { details: { field: 'until' } })
    }
    return { buckets: [], failures: [] }
  }
  const edge = (index: number): WireTime => wireTimeFromMicros(start + width * BigInt(index))
  const buckets = Array.from(
    { length: count },
    (_, index): Bucket => ({ from: edge(index), to: index === count - 1 ? until : edge(index + 1), byStatus: {} }),
  )
  const { answers, failures } = await databases.fanOut((db) => countByTime(db, { ...selection, since, until }, count))
  for (const { bucket, status, count: found } of answers.flatMap(({ value }) => value)) {
    const { byStatus } = buckets[Math.min(count - 1, Math.max(0, bucket))]!
    byStatus[status] = (byStatus[status] ?? 0) + found
  }
  return { buckets, failures }
}

async function begins(databases: Databases): Promise<WireTime | undefined> {
  const { answers } = await databases.fanOut(oldestExecution)
  const times = answers.flatMap(({ value }) => (value === undefined ? [] : [wireTimeFromPostgres(value, 'start_time')]))
  return times.sort()[0]
}
