// How many executions began when, by status: one grouped query per database, put together here. Of very many the newest are
// counted, or searched, so that the picture costs the same whatever the history.
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
  type ExecutionSelection,
  type HistogramCell,
  oldestExecution,
} from '../../stores/executions/executionListStore.js'

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
  if (asked >= until) {
    if (selection.since !== null && selection.until !== null) {
      throw new CpError('invalid_input', 'until must be after since', { details: { field: 'until' } })
    }
    return { buckets: [], isCut: false, failures: [] }
  }
  const ask = (since: WireTime) =>
    databases.fanOut((db) => countByTime(db, { ...selection, since, until }, count, countedMax))
  let counted = await ask(asked)
  const since = latestOf(counted.answers.flatMap(({ value }) => value)) ?? asked
  const isCut = since !== asked
  // Each database has begun where its own newest do: once more, all in the same spans.
  if (isCut && databases.shards.length > 1) counted = await ask(since)
  const buckets = spansOf(since, until, count)
  for (const { bucket, status, count: found } of counted.answers.flatMap(({ value }) => value)) {
    const { byStatus } = buckets[Math.min(count - 1, Math.max(0, bucket))]!
    if (found > 0) byStatus[status] = (byStatus[status] ?? 0) + found
  }
  return { buckets, isCut, failures: counted.failures }
}

function spansOf(since: WireTime, until: WireTime, count: number): Bucket[] {
  const start = wireTimeToMicros(since)
  const width = (wireTimeToMicros(until) - start) / BigInt(count)
  const edge = (index: number): WireTime => wireTimeFromMicros(start + width * BigInt(index))
  return Array.from(
    { length: count },
    (_, index): Bucket => ({ from: edge(index), to: index === count - 1 ? until : edge(index + 1), byStatus: {} }),
  )
}

async function begins(databases: Databases): Promise<WireTime | undefined> {
  const { answers } = await databases.fanOut(oldestExecution)
  return timesOf(answers.map(({ value }) => value))[0]
}

function latestOf(cells: readonly HistogramCell[]): WireTime | undefined {
  return timesOf(cells.map(({ counted_since: since }) => since)).at(-1)
}

function timesOf(times: readonly (string | null | undefined)[]): WireTime[] {
  return times.flatMap((time) => (time == null ? [] : [wireTimeFromPostgres(time, 'start_time')])).sort()
}
