// How many executions began when, by status: one grouped query per database, put together here. Of very many the newest are
// counted, so that the picture costs the same whatever the history.
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
import {
  countByTime,
  countedSince,
  type ExecutionSelection,
  oldestExecution,
} from '../../stores/executions/executionStore.js'

export interface Bucket {
  from: WireTime
  to: WireTime
  byStatus: Record<string, number>
}

export interface Histogram {
  buckets: Bucket[]
  /** There are older ones that were not counted. */
  isCut: boolean
  failures: { shard: number; error: CpError }[]
}

/** On each database. */
const COUNTED_MAX = 100_000

/** Without `since` it begins with the first execution, without `until` it ends now. */
export async function executionHistogram(
  { databases, clock }: { databases: Databases; clock: Clock },
  selection: ExecutionSelection,
  count: number,
  countedMax = COUNTED_MAX,
): Promise<Histogram> {
  const until = (selection.until ?? wireTimeFromMillis(clock.now())) as WireTime
  const asked = (selection.since ?? (await begins(databases)) ?? until) as WireTime
  const newest = await oldestOfNewest(databases, selection, countedMax)
  const isCut = newest !== undefined && newest > asked
  const since = isCut ? newest : asked
  const start = wireTimeToMicros(since)
  const width = (wireTimeToMicros(until) - start) / BigInt(count)
  if (width <= 0n) {
    if (selection.since !== null && selection.until !== null) {
      throw new CpError('invalid_input', 'until must be after since', { details: { field: 'until' } })
    }
    return { buckets: [], isCut: false, failures: [] }
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
  return { buckets, isCut, failures }
}

async function begins(databases: Databases): Promise<WireTime | undefined> {
  const { answers } = await databases.fanOut(oldestExecution)
  return timesOf(answers)[0]
}

/** Since when every database has so many; undefined where none has more. */
async function oldestOfNewest(
  databases: Databases,
  selection: ExecutionSelection,
  countedMax: number,
): Promise<WireTime | undefined> {
  const { answers } = await databases.fanOut((db) => countedSince(db, selection, countedMax))
  return timesOf(answers).at(-1)
}

function timesOf(answers: readonly { value: string | undefined }[]): WireTime[] {
  return answers.flatMap(({ value }) => (value === undefined ? [] : [wireTimeFromPostgres(value, 'start_time')])).sort()
}
