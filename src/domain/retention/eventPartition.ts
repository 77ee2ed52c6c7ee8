// Ranges of execution ids: which month an id belongs to, which partition of the event table holds it, and
// which ids are old enough for retention. Bounds come from the id layout alone; a name or bound that goes
// into DDL is made here from integers, never from text of others.

import { CpError } from '../../errors.js'
import { INT64_MAX, INT64_MIN } from '../ids/ids.js'
import { SNOWFLAKE_EPOCH_MS, TIME_SHIFT } from '../ids/snowflake.js'

/** Half open: `from` belongs to it, `to` does not. */
export interface IdRange {
  from: bigint
  to: bigint
}

export interface MonthPartition extends IdRange {
  name: string
}

// The database function of the predecessor shifts by one bit more (see snowflake.ts).
const DATABASE_TIME_SHIFT = TIME_SHIFT + 1n
// Just above INT64_MAX, so that MAXVALUE can stand at the open end of a range.
const ABOVE_ALL = INT64_MAX + 1n

/** The current month and the `ahead` months after it. */
export function monthPartitions(nowMs: number, ahead: number): MonthPartition[] {
  const now = new Date(nowMs)
  return Array.from({ length: ahead + 1 }, (_, step) => monthPartition(now.getUTCFullYear(), now.getUTCMonth() + step))
}

/** `month` counts from 0 and may run beyond 11. */
function monthPartition(year: number, month: number): MonthPartition {
  const first = new Date(Date.UTC(year, month, 1))
  const name = `event_y${first.getUTCFullYear()}m${String(first.getUTCMonth() + 1).padStart(2, '0')}`
  return { name, from: firstIdAt(Date.UTC(year, month, 1)), to: firstIdAt(Date.UTC(year, month + 1, 1)) }
}

/** The smallest id that can be minted at this instant. */
export function firstIdAt(unixMs: number): bigint {
  return BigInt(Math.max(0, Math.floor(unixMs) - SNOWFLAKE_EPOCH_MS)) << TIME_SHIFT
}

/** A partition bound as Postgres prints it; undefined for the default partition and anything unexpected. */
export function parsePartitionBound(text: string): IdRange | undefined {
  const match = /^FOR VALUES FROM \((MINVALUE|'-?\d{1,19}')\) TO \((MAXVALUE|'-?\d{1,19}')\)$/.exec(text)
  if (match === null) return undefined
  return { from: boundValue(match[1]!), to: boundValue(match[2]!) }
}

function boundValue(text: string): bigint {
  if (text === 'MINVALUE') return INT64_MIN
  if (text === 'MAXVALUE') return ABOVE_ALL
  return BigInt(text.slice(1, -1))
}

export function overlaps(left: IdRange, right: IdRange): boolean {
  return left.from < right.to && right.from < left.to
}

export function isWithin(inner: IdRange, outer: IdRange): boolean {
  return inner.from >= outer.from && inner.to <= outer.to
}

/** Whether several ranges together leave no gap in `wanted`. */
export function isCovered(wanted: IdRange, ranges: readonly IdRange[]): boolean {
  let reached = wanted.from
  for (const range of [...ranges].sort((left, right) => (left.from < right.from ? -1 : 1))) {
    if (range.from <= reached && range.to > reached) reached = range.to
  }
  return reached >= wanted.to
}

/**
 * The ids minted before the cutoff. Ids of the database function lie at twice the value: they have a range of
 * their own, which begins above everything our layout has reached so far, so that the two cannot be mixed up.
 */
export function agedRanges(cutoffMs: number, nowMs: number): IdRange[] {
  if (cutoffMs > nowMs) throw new CpError('invalid_input', 'the cutoff lies in the future')
  const ranges: IdRange[] = [{ from: INT64_MIN, to: firstIdAt(cutoffMs) }]
  const reached = firstIdAt(nowMs + DAY_MS)
  const databaseCutoff = firstIdAt(cutoffMs) << (DATABASE_TIME_SHIFT - TIME_SHIFT)
  if (databaseCutoff > reached) ranges.push({ from: reached, to: databaseCutoff })
  return ranges
}

const DAY_MS = 86_400_000

const PARTITION_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** Names that may stand in DDL without quotes; an adopted partition with another name is left to its owner. */
export function isPlainName(name: string): boolean {
  return PARTITION_NAME.test(name)
}
