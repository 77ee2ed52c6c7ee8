// Mints snowflake ids for one machine slot, strictly increasing and never twice. It never waits: where the
// original spins until the clock has moved, this one counts on in a millisecond that has not come yet and
// refuses when that would run too far ahead. It must not be shared by threads, and a caller that holds the
// slot by a lease passes `mayMint`, which throws once the lease is gone.
//
// The ids are those of the NoETL server for every clock sequence, with two exceptions: at the very first
// millisecond of 2024 the sequence starts at 0 (there 1), and a clock that fell back by more than
// `CLOCK_STEP_MAX_MS` is an error (there an endless spin once the millisecond is used up).
//
// After a restart the new generator knows nothing of ids minted ahead of the clock. Whoever keeps the
// lease stores `highWater()` with it and hands it to `observe` first.

import { CpError } from '../../errors.js'
import { INT64_MAX } from './ids.js'
import {
  composeSnowflake,
  DATABASE_LAYOUT_FACTOR_SHIFT,
  decomposeSnowflake,
  isDatabaseLayout,
  SEQUENCE_MAX,
  SNOWFLAKE_EPOCH_MS,
  SNOWFLAKE_LAST_MS,
} from './snowflake.js'

/** A clock that falls back by no more than this is outwaited by counting on. */
export const CLOCK_STEP_MAX_MS = 10_000
/** How many milliseconds may be used up before the clock reaches them: four million ids. */
export const BORROW_MAX_MS = 1_000
/** Ids of others further ahead than this are not followed: one broken clock must not drag all others along. */
export const OBSERVE_AHEAD_MAX_MS = 10_000

export interface IdGeneratorOptions {
  machineId: number
  /** Unix milliseconds. */
  now(): number
  /** Throws when this process may no longer mint, for instance because its machine lease is lost. */
  mayMint?(): void
  /** Unix milliseconds that no id may lie beyond: the end of the machine lease, where the next holder begins. */
  lastMs?(): number
}

export interface IdGeneratorCounters {
  minted: number
  /** Calls refused because the clock fell back too far or stood outside 2024..2093. */
  clockRefusals: number
  /** Calls refused because too many ids were asked for in too short a time. */
  overloadRefusals: number
  /** Calls served although the clock stood behind an earlier reading. */
  backwardSteps: number
  /** Observed ids that were too far ahead to be followed. */
  observedTooFarAhead: number
  /** How far the last id is ahead of the highest clock reading, in milliseconds. */
  aheadMs: number
}

export interface IdGenerator {
  readonly machineId: number
  /** `count` increasing ids; all of them or an error. */
  next(count: number): string[]
  nextOne(): string
  /**
   * An id greater than `floor`, which may come from another clock or from the database function of the predecessor.
   * The result is of the floor's layout, so that its time stays readable and it stays unique.
   */
  above(floor: bigint): string
  /** True when the clock stands so far behind its highest reading that nothing can be minted. */
  isBehind(): boolean
  /** Every later id is greater than this one; false when it is too far ahead to be followed. */
  observe(id: bigint): boolean
  /** The last id minted or observed, 0 before that. */
  highWater(): bigint
  counters(): IdGeneratorCounters
}

export function createIdGenerator(options: IdGeneratorOptions): IdGenerator {
  const { machineId, now, mayMint } = options
  const endMs = (): number => Math.min(options.lastMs?.() ?? SNOWFLAKE_LAST_MS, SNOWFLAKE_LAST_MS)
  composeSnowflake(SNOWFLAKE_EPOCH_MS, machineId, 0)

  // The logical millisecond in use and the last sequence taken in it.
  let lastMs = SNOWFLAKE_EPOCH_MS - 1
  let sequence = SEQUENCE_MAX
  // What `lastMs` may lead: the highest clock reading or the highest id followed.
  let clockHighMs = 0
  let observedMs = 0
  let highest = 0n
  let minted = 0
  let clockRefusals = 0
  let overloadRefusals = 0
  let backwardSteps = 0
  let observedTooFarAhead = 0

  function readClock(): number {
    const clock = Math.floor(now())
    if (!(clock >= SNOWFLAKE_EPOCH_MS && clock <= SNOWFLAKE_LAST_MS)) {
      clockRefusals += 1
      throw new CpError('unavailable', 'no ids: the system clock is outside 2024..2093; set the clock', {
        details: { clock_ms: clock },
      })
    }
    const behindMs = clockHighMs - clock
    if (behindMs > CLOCK_STEP_MAX_MS) {
      clockRefusals += 1
      throw new CpError(
        'unavailable',
        `no ids: the system clock fell back by ${behindMs} ms, more than the ${CLOCK_STEP_MAX_MS} ms that can be ` +
          'absorbed; correct the clock, or wait until it has caught up',
        { details: { behind_ms: behindMs, limit_ms: CLOCK_STEP_MAX_MS } },
      )
    }
    if (behindMs > 0) backwardSteps += 1
    else clockHighMs = clock
    return clock
  }

  function next(count: number): string[] {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new CpError('invalid_input', 'count must be a whole number of at least 1', { details: { field: 'count' } })
    }
    mayMint?.()
    const clock = readClock()
    if (clock > lastMs) {
      lastMs = clock
      sequence = -1
    }
    const lastAllowedMs = Math.min(Math.max(clockHighMs, observedMs) + BORROW_MAX_MS, endMs())
    const room = SEQUENCE_MAX - sequence + (lastAllowedMs - lastMs) * (SEQUENCE_MAX + 1)
    if (count > room) {
      overloadRefusals += 1
      throw new CpError(
        'overloaded',
        `no ids: ${count} asked for, ${Math.max(room, 0)} left before the clock moves on; ask for fewer or try again`,
        { details: { count, room: Math.max(room, 0) } },
      )
    }
    const ids: string[] = new Array(count)
    let id = sequence < 0 ? composeSnowflake(lastMs, machineId, 0) - 1n : composeSnowflake(lastMs, machineId, sequence)
    for (let index = 0; index < count; index++) {
      if (sequence === SEQUENCE_MAX) {
        lastMs += 1
        sequence = 0
        id = composeSnowflake(lastMs, machineId, 0)
      } else {
        sequence += 1
        id += 1n
      }
      ids[index] = id.toString()
    }
    highest = id
    minted += count
    return ids
  }

  function isNear(unixMs: number): boolean {
    const clock = Math.max(clockHighMs, Math.floor(now()))
    return unixMs <= Math.min(clock + OBSERVE_AHEAD_MAX_MS, endMs())
  }

  function above(floor: bigint): string {
    if (floor <= 0n || isNear(decomposeSnowflake(floor).unixMs)) {
      observe(floor)
      return next(1)[0] as string
    }
    const half = floor >> DATABASE_LAYOUT_FACTOR_SHIFT
    if (isDatabaseLayout(floor, now()) && isNear(decomposeSnowflake(half).unixMs)) {
      observe(half)
      const doubled = BigInt(next(1)[0] as string) << DATABASE_LAYOUT_FACTOR_SHIFT
      if (doubled <= INT64_MAX) return doubled.toString()
    }
    // No working clock has made this id. What comes right after it is only unique together with its neighbours.
    if (floor >= INT64_MAX) {
      throw new CpError('refused', `no id: ${floor} is the highest there is, and nothing can come after it`)
    }
    mayMint?.()
    return (floor + 1n).toString()
  }

  function observe(id: bigint): boolean {
    if (id <= highest) return true
    const seen = decomposeSnowflake(id)
    if (!isNear(seen.unixMs)) {
      observedTooFarAhead += 1
      return false
    }
    // The smallest place in the own slot that comes after the id: the same millisecond if the own machine
    // number is higher, the next sequence if it is the same, the next millisecond if it is lower.
    const taken = machineId > seen.machineId ? -1 : machineId === seen.machineId ? seen.sequence : SEQUENCE_MAX
    if (seen.unixMs > lastMs) {
      lastMs = seen.unixMs
      sequence = taken
    } else {
      sequence = Math.max(sequence, taken)
    }
    observedMs = Math.max(observedMs, seen.unixMs)
    highest = id
    return true
  }

  return {
    machineId,
    next,
    nextOne: () => next(1)[0] as string,
    above,
    isBehind: () => clockHighMs - Math.floor(now()) > CLOCK_STEP_MAX_MS,
    observe,
    highWater: () => highest,
    counters: () => ({
      minted,
      clockRefusals,
      overloadRefusals,
      backwardSteps,
      observedTooFarAhead,
      aheadMs: clockHighMs === 0 ? 0 : Math.max(0, lastMs - clockHighMs),
    }),
  }
}
