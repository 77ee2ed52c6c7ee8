// Mints ids under a leased machine id: two live processes never mint with the same one. All of it goes by the clock of
// the cluster database: ids carry its time, none lies beyond the end of the lease it was minted under, and the next
// holder of a machine id begins above the end of the lease before, however the last holder died. The clock of this
// host plays no part; it may be wrong and may jump. See docs/decisions/0006-ids-and-order.md.
import type { Db } from '../../db/db.js'
import { createIdGenerator, type IdGenerator, type IdGeneratorCounters } from '../../domain/ids/idGenerator.js'
import {
  DAEMON_MACHINE_ID_MAX,
  MACHINE_ID_MAX,
  ONE_SHOT_MACHINE_ID_MIN,
  type ProposedMachineId,
} from '../../domain/ids/machineId.js'
import { composeSnowflake, decomposeSnowflake, SEQUENCE_MAX, SNOWFLAKE_EPOCH_MS } from '../../domain/ids/snowflake.js'
import { shardOf } from '../../domain/shards/shards.js'
import { CpError, type ErrorCode } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { createRemoteClock } from '../../runtime/remoteClock.js'
import { leaseHolder, type TakenLease } from '../../stores/leases/leaseStore.js'
import { createLeaseKeeper } from '../leases/leaseKeeper.js'

export interface Ids extends PollLoop {
  next(): string
  /** An id greater than the one given, whichever clock or layout that one came from. */
  above(floor: bigint): string
  /** An id whose rows live in the given one of `count` databases. */
  nextInShard(shard: number, count: number): string
  machineId(): number | undefined
  /** The time of the cluster database, in Unix milliseconds. */
  databaseNow(): number
  /** Throws the reason why there are no ids at the moment. */
  assertMinting(): void
  counters(): IdGeneratorCounters | undefined
}

export interface IdsDeps {
  /** The cluster database. */
  db: Db
  clock: Clock
  random: () => number
  /** The name of this process among the members of the cluster. */
  owner: string
  onTaken?(machineId: number): void
  onError(code: ErrorCode, message: string): void
}

export interface IdsOptions {
  proposed: ProposedMachineId
  /** One-shot commands lease from a range of their own, so that they never take a daemon's id. */
  use: 'daemon' | 'oneShot'
}

const KIND = 'machine'
const LEASE_MS = 30_000
const RENEW_MS = 5_000

export function createIds(options: IdsOptions, deps: IdsDeps): Ids {
  const { clock, db } = deps
  const databaseClock = createRemoteClock(clock.monotonic)
  const slots = candidates()
  /** Machine ids whose ids lie in the future, because the database's clock was ahead once: another one will do. */
  const ahead = new Map<number, bigint>()
  let generator: IdGenerator | undefined
  let leaseEndsMs = 0
  let isLeaving = false
  let told: number | undefined
  /** Why there is no machine id, while there is none. */
  let trouble: CpError | undefined

  const lease = createLeaseKeeper({
    db,
    clock,
    kind: KIND,
    slots,
    owner: deps.owner,
    leaseMs: LEASE_MS,
    share: 1,
    isWanted: (machineId) => !ahead.has(machineId),
    highWaterOf: () => generator?.highWater() ?? 0n,
    onTimes: ({ nowMs, endsMs }, asked) => {
      databaseClock.observe(nowMs, asked, clock.monotonic())
      leaseEndsMs = endsMs
    },
    onTaken: ([taken]) => taken !== undefined && begin(taken),
    onLost: ([machineId]) => {
      if (!isLeaving) deps.onError('lost_claim', `lost machine id ${machineId}`)
    },
  })

  function begin(taken: TakenLease): void {
    if (generator?.machineId !== taken.slot) {
      generator = createIdGenerator({
        machineId: taken.slot,
        now: databaseNow,
        mayMint: assertHeld,
        lastMs: () => leaseEndsMs,
      })
    }
    const last = lastOf(taken)
    if (!generator.observe(last)) ahead.set(taken.slot, last)
  }

  async function keepLease(): Promise<void> {
    ahead.clear()
    await lease.runOnce()
    for (;;) {
      const machineId = lease.held()[0]?.slot
      if (machineId === undefined) return giveUp(await nobodyFree())
      if (generator?.isBehind()) ahead.set(machineId, generator.highWater())
      if (!ahead.has(machineId)) break
      // The database's clock was ahead and came back. What was minted meanwhile must not come again, and waiting for
      // the clock to get there would stop all writes: this machine id stays behind, and another one goes on.
      deps.onError('unavailable', `the database's clock fell back; leaving machine id ${machineId} for another one`)
      await giveBack()
      if (ahead.size === slots.length) return giveUp(ranAhead(machineId))
      await lease.runOnce()
    }
    trouble = undefined
    const machineId = generator?.machineId
    if (machineId === undefined || machineId === told) return
    told = machineId
    deps.onTaken?.(machineId)
  }

  function giveUp(reason: CpError): never {
    trouble = reason
    throw reason
  }

  /** It expires by itself if this fails. */
  async function giveBack(): Promise<void> {
    isLeaving = true
    await lease.giveBack().catch(() => undefined)
    isLeaving = false
  }

  function databaseNow(): number {
    const now = databaseClock.now()
    if (now === undefined) throw notStarted()
    return now
  }

  function ranAhead(machineId: number): CpError {
    const seconds = Math.ceil((decomposeSnowflake(ahead.get(machineId) ?? 0n).unixMs - databaseNow()) / 1000)
    return new CpError(
      'unavailable',
      `no ids: the last id of machine id ${machineId} lies ${seconds} s ahead of the database's clock, which was set back; choose another NOETL_SERVER_MACHINE_ID, or wait`,
      { details: { ahead_seconds: seconds } },
    )
  }

  function candidates(): number[] {
    const { machineId, explicit } = options.proposed
    // A setting meant for the daemon is not a reason for a command beside it to fail.
    if (explicit && options.use === 'daemon') return [machineId]
    const [from, to] = options.use === 'daemon' ? [0, DAEMON_MACHINE_ID_MAX] : [ONE_SHOT_MACHINE_ID_MIN, MACHINE_ID_MAX]
    const size = to - from + 1
    const first = options.use === 'daemon' ? machineId % size : Math.floor(deps.random() * size)
    return Array.from({ length: size }, (_, step) => from + ((first + step) % size))
  }

  async function nobodyFree(): Promise<CpError> {
    if (!options.proposed.explicit || options.use === 'oneShot')
      return new CpError('unavailable', 'every machine id is leased; stop a daemon, or wait 30 s')
    const { machineId } = options.proposed
    const other = await leaseHolder(db, KIND, machineId)
    return new CpError(
      'refused',
      `machine id ${machineId} (NOETL_SERVER_MACHINE_ID) is held by ${other ?? 'another process'}; choose another, stop that process, or wait ${LEASE_MS / 1000} s if it has died`,
    )
  }

  function assertHeld(): void {
    if (lease.isSafe()) return
    throw new CpError(
      'unavailable',
      `no ids: the lease of machine id ${generator?.machineId} could not be renewed; is the cluster database reachable?`,
      {
        details: { retryAfterSeconds: 1 },
      },
    )
  }

  function current(): IdGenerator {
    if (trouble !== undefined) throw trouble
    if (generator === undefined) throw notStarted()
    return generator
  }

  function notStarted(): CpError {
    return new CpError('unavailable', 'no ids: there is no machine id yet; is the cluster database reachable?')
  }

  const loop = createPollLoop({
    name: 'ids',
    clock,
    random: deps.random,
    idleMs: RENEW_MS,
    errorMs: 500,
    errorMsMax: RENEW_MS,
    onError: (error) => deps.onError(error.code, error.message),
    runOnce: async () => {
      await keepLease()
      return 'idle'
    },
  })

  return {
    ...loop,
    start: async () => {
      await keepLease()
      await loop.start()
    },
    stop: async (deadlineMs) => {
      await loop.stop(deadlineMs)
      await giveBack()
    },
    next: () => current().nextOne(),
    above: (floor) => current().above(floor),
    nextInShard: (shard, count) => {
      for (;;) {
        const id = current().nextOne()
        if (shardOf(id, count) === shard) return id
      }
    },
    machineId: () => lease.held()[0]?.slot,
    databaseNow,
    assertMinting: () => {
      const { machineId } = current()
      assertHeld()
      if (!current().isBehind()) return
      throw new CpError('unavailable', `no ids: the database's clock is behind the last id of machine id ${machineId}`)
    },
    counters: () => generator?.counters(),
  }
}

/**
 * The highest id that may have been minted with a machine id: the holder before may have minted until its lease ended,
 * and may have died before it could tell.
 */
function lastOf({ slot, highWater, endedMs }: TakenLease): bigint {
  if (endedMs === undefined) return highWater
  const end = composeSnowflake(Math.max(endedMs, SNOWFLAKE_EPOCH_MS), slot, SEQUENCE_MAX)
  return end > highWater ? end : highWater
}
