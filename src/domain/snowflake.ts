// The layout of 64-bit ids: milliseconds since 2024-01-01 in 41 bits, machine in 10, sequence in 12.
// Databases that were filled by the predecessor also hold ids of another family, minted by a database
// function with one more bit below the time; `decomposeSnowflake` tells the two apart. Minting is in
// idGenerator.ts; nothing here may guess at the time, `now` is always an argument.

import { CpError } from '../errors.js'
import { INT64_MAX } from './ids.js'
import { MACHINE_ID_MAX } from './machineId.js'

export const SNOWFLAKE_EPOCH_MS = 1_704_067_200_000
export const SNOWFLAKE_LAST_MS = 3_903_090_455_551
export const SEQUENCE_MAX = 4095
export const TIME_SHIFT = 22n
export const MACHINE_SHIFT = 12n

const DATABASE_TIME_SHIFT = 23n
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

/**
 * Reads an id in the layout that makes sense of it.
 *
 * The database function shifts the time by 23 instead of 22, so its ids are twice as large and, read as
 * application ids, lie as far in the future as the epoch lies in the past. That alone cannot decide: an
 * application id read with shift 23 always gives a believable instant in the past. But the function also
 * leaves a mark (shard 1 in bits 18..22, nothing in bits 10..17) that of all application ids only those of
 * machine 64 in an even millisecond can carry. So: marked and in the future as an application id means
 * database; everything else is an application id, with the other reading attached where both would do.
 */
export function inspectSnowflake(id: bigint, nowMs: number): InspectedSnowflake {
  const app = decomposeSnowflake(id, 'app')
  const marks = (id >> 10n) & 0x1fffn
  if (marks !== DATABASE_SHARD << (DATABASE_SHARD_SHIFT - 10n)) return app
  const database = { ...decomposeSnowflake(id, 'database'), sequence: Number(id & DATABASE_SEQUENCE_MASK) }
  if (database.unixMs > nowMs + CLOCK_AHEAD_MAX_MS) return app
  if (app.unixMs > nowMs + CLOCK_AHEAD_MAX_MS) return database
  return { ...app, alternative: database }
}

function outOfRange(field: string, rule: string): CpError {
  return new CpError('invalid_input', `${field} ${rule}`, { details: { field } })
}
