// The layout of 64-bit ids: milliseconds since 2024-01-01 in 41 bits, machine in 10, sequence in 12.
// Databases that were filled by a NoETL server also hold ids of another family, minted by a database
// function with one more bit below the time; `inspectSnowflake` tells the two apart. What we append behind such
// ids is one of ours, doubled: the same instant in that layout. Minting is in
// idGenerator.ts; nothing here may guess at the time, `now` is always an argument.

import { CpError } from '../../errors.js'
import { INT64_MAX } from './ids.js'
import { MACHINE_ID_MAX } from './machineId.js'

export const SNOWFLAKE_EPOCH_MS = 1_704_067_200_000
export const SNOWFLAKE_LAST_MS = 3_903_090_455_551
export const SEQUENCE_MAX = 4095
export const TIME_SHIFT = 22n
export const MACHINE_SHIFT = 12n

/** An id of ours, shifted by this, is of the same instant in the database function's layout. */
export const DATABASE_LAYOUT_FACTOR_SHIFT = 1n
const DATABASE_TIME_SHIFT = TIME_SHIFT + DATABASE_LAYOUT_FACTOR_SHIFT
const DATABASE_SHARD_SHIFT = 18n
const DATABASE_SHARD = 1n
const DATABASE_SEQUENCE_MASK = 0x3ffn

/** An id whose instant lies further ahead than this was not minted by a working clock in this layout. */
const CLOCK_AHEAD_MAX_MS = 86_400_000

export type SnowflakeLayout = 'app' | 'database'

export interface Snowflake {
  layout: SnowflakeLayout
  unixMs: number
  machineId: number
  sequence: number
}

export interface InspectedSnowflake extends Snowflake {
  /** Set when the other layout would explain the id as well; it then holds that reading. */
  alternative?: Snowflake
}

export function composeSnowflake(unixMs: number, machineId: number, sequence: number): bigint {
  if (!Number.isInteger(unixMs) || unixMs < SNOWFLAKE_EPOCH_MS || unixMs > SNOWFLAKE_LAST_MS) {
    throw outOfRange('timestamp', 'must be a whole millisecond between 2024-01-01 and 2093-09-06')
  }
  if (!Number.isInteger(machineId) || machineId < 0 || machineId > MACHINE_ID_MAX) {
    throw outOfRange('machine_id', `must be a whole number from 0 to ${MACHINE_ID_MAX}`)
  }
  if (!Number.isInteger(sequence) || sequence < 0 || sequence > SEQUENCE_MAX) {
    throw outOfRange('sequence', `must be a whole number from 0 to ${SEQUENCE_MAX}`)
  }
  return (BigInt(unixMs - SNOWFLAKE_EPOCH_MS) << TIME_SHIFT) | (BigInt(machineId) << MACHINE_SHIFT) | BigInt(sequence)
}

/** Reads an id in one given layout. */
export function decomposeSnowflake(id: bigint, layout: SnowflakeLayout = 'app'): Snowflake {
  if (id < 0n || id > INT64_MAX) throw outOfRange('id', 'must be between 0 and 9223372036854775807')
  if (layout === 'app') {
    return {
      layout,
      unixMs: SNOWFLAKE_EPOCH_MS + Number(id >> TIME_SHIFT),
      machineId: Number((id >> MACHINE_SHIFT) & BigInt(MACHINE_ID_MAX)),
      sequence: Number(id & BigInt(SEQUENCE_MAX)),
    }
  }
  return {
    layout,
    unixMs: SNOWFLAKE_EPOCH_MS + Number(id >> DATABASE_TIME_SHIFT),
    machineId: Number((id >> DATABASE_SHARD_SHIFT) & 0x1fn),
    sequence: Number(id & ((1n << DATABASE_SHARD_SHIFT) - 1n)),
  }
}

/** Whether only the other layout makes sense of the id: read as one of ours it lies far in the future. */
export function isDatabaseLayout(id: bigint, nowMs: number): boolean {
  return (
    decomposeSnowflake(id, 'app').unixMs > nowMs + CLOCK_AHEAD_MAX_MS &&
    decomposeSnowflake(id, 'database').unixMs <= nowMs + CLOCK_AHEAD_MAX_MS
  )
}

/**
 * How far the id lies ahead of the clock in the layout that is kinder to it, in milliseconds. Negative for ids of the
 * past.
 */
export function aheadMs(id: bigint, nowMs: number): number {
  return decomposeSnowflake(id, 'database').unixMs - nowMs
}

/**
 * Reads an id in the layout that makes sense of it.
 *
 * The database function shifts the time by 23 instead of 22, so its ids are twice as large and, read as
 * application ids, lie as far in the future as the epoch lies in the past: an id in the future as an application id,
 * and not as a database id, is one of the database's. An application id read with shift 23 always gives a believable
 * instant in the past, so that alone decides nothing for older ids. But the function also leaves a mark (shard 1 in
 * bits 18..22, nothing in bits 10..17) that of all application ids only those of machine 64 in an even millisecond can
 * carry: for marked ids of the past the other reading is attached.
 */
export function inspectSnowflake(id: bigint, nowMs: number): InspectedSnowflake {
  const app = decomposeSnowflake(id, 'app')
  const database = decomposeSnowflake(id, 'database')
  const isMarked = ((id >> 10n) & 0x1fffn) === DATABASE_SHARD << (DATABASE_SHARD_SHIFT - 10n)
  const marked = isMarked ? { ...database, sequence: Number(id & DATABASE_SEQUENCE_MASK) } : database
  if (isDatabaseLayout(id, nowMs)) return marked
  return isMarked && database.unixMs <= nowMs + CLOCK_AHEAD_MAX_MS ? { ...app, alternative: marked } : app
}

function outOfRange(field: string, rule: string): CpError {
  return new CpError('invalid_input', `${field} ${rule}`, { details: { field } })
}
