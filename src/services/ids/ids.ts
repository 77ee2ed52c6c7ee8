// Mints ids under a leased machine id: two live processes never mint with the same one. All of it goes by the clock of
// the cluster database: ids carry its time, none lies beyond the end of the lease it was minted under, and the next
// holder of a machine id begins above the end of the lease before, however the last holder died. The clock of this
// host plays no part; it may be wrong and may jump. See docs/decisions/0006-ids-and-order.md.
import { randomBytes } from 'node:crypto'
import type { Db } from '../../db/db.js'
import { createIdGenerator, type IdGenerator, type IdGeneratorCounters } from '../../domain/ids/idGenerator.js'
import {
  DAEMON_MACHINE_ID_MAX,
  MACHINE_ID_MAX,
  ONE_SHOT_MACHINE_ID_MIN,
  type ProposedMachineId,
} from '../../domain/ids/machineId.js'
import { decomposeSnowflake } from '../../domain/ids/snowflake.js'
import { shardOf } from '../../domain/shards/shards.js'
import { CpError, type ErrorCode, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { createRemoteClock } from '../../runtime/remoteClock.js'
import {
  type LeaseTimes,
  type MachineLease,
  machineLeaseHolder,
  releaseMachineLease,
  renewMachineLease,
  takeMachineLease,
} from '../../stores/ids/machineLeaseStore.js'

export interface Ids extends PollLoop {
  next(): string
  nextMany(count: number): string[]
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
  hostName: string
  onError(code: ErrorCode, message: string): void
}

export interface IdsOptions {
  proposed: ProposedMachineId
  /** One-shot commands lease from a range of their own, so that they never take a daemon's id. */
  use: 'daemon' | 'oneShot'
}

const TTL_SECONDS = 30
const RENEW_MS = 5_000
const CALL_DEADLINE_MS = 4_000
// We stop before the database would let somebody else in.
const SAFETY_MS = 5_000
// Whoever was faster holds one of the ids now, so more lost races than there are ids cannot be.
const TAKE_TRIES = MACHINE_ID_MAX + 1

export function createIds(options: IdsOptions, deps: IdsDeps): Ids {
  const { clock, db } = deps
  const holder = `${deps.hostName}:${process.pid}:${randomBytes(4).toString('hex')}`
  const databaseClock = createRemoteClock(clock.monotonic)
  let lease: MachineLease | undefined
  let generator: IdGenerator | undefined
  let mayMintUntil = 0
  let leaseEndsMs = 0
  /** Why there is no machine id, while there is none. */
  let trouble: CpError | undefined

  async function take(except?: number): Promise<void> {
    const wanted = new Set(candidates())
    if (except !== undefined && wanted.size > 1) wanted.delete(except)
    for (let tries = 0; tries < TAKE_TRIES; tries++) {
      const asked = clock.monotonic()
      const taken = await takeMachineLease(db, { candidates: [...wanted], holder, ttlSeconds: TTL_SECONDS })
      if (taken === 'none free') break
      if (taken === 'others were faster') continue
      databaseClock.observe(taken.databaseNowMs, asked, clock.monotonic())
      leaseEndsMs = taken.endsMs
      const fresh = createIdGenerator({
        machineId: taken.machineId,
        now: databaseNow,
        mayMint: assertHeld,
        lastMs: () => leaseEndsMs,
      })
      if (!fresh.observe(taken.highWater)) {
        // Its ids lie in the future, because the database's clock was ahead once: another machine id will do.
        await giveBack({ ...taken, holder }, CALL_DEADLINE_MS)
        wanted.delete(taken.machineId)
        if (wanted.size === 0) throw ranAhead(taken)
        continue
      }
      lease = taken
      generator = fresh
      mayMintUntil = asked + TTL_SECONDS * 1000 - SAFETY_MS
      trouble = undefined
      return
    }
    throw await nobodyFree()
  }

  function databaseNow(): number {
    const now = databaseClock.now()
    if (now === undefined) throw notStarted()
    return now
  }

  function ranAhead(taken: MachineLease & LeaseTimes): CpError {
    const seconds = Math.ceil((decomposeSnowflake(taken.highWater).unixMs - taken.databaseNowMs) / 1000)
    return new CpError(
      'unavailable',
      `no ids: the last id of machine id ${taken.machineId} lies ${seconds} s ahead of the database's clock, which was set back; choose another NOETL_SERVER_MACHINE_ID, or wait`,
      { details: { ahead_seconds: seconds } },
    )
  }

  function giveBack(held: MachineLease & { holder: string }, deadlineMs: number): Promise<void> {
    // It expires by itself if this fails.
    return releaseMachineLease(db, held, deadlineMs).catch(() => undefined)
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
    const other = await machineLeaseHolder(db, machineId)
    return new CpError(
      'refused',
      `machine id ${machineId} (NOETL_SERVER_MACHINE_ID) is held by ${other ?? 'another process'}; choose another, stop that process, or wait ${TTL_SECONDS} s if it has died`,
    )
  }

  function assertHeld(): void {
    if (clock.monotonic() < mayMintUntil) return
    throw new CpError(
      'unavailable',
      `no ids: the lease of machine id ${generator?.machineId} could not be renewed; is the cluster database reachable?`,
      {
        details: { retryAfterSeconds: 1 },
      },
    )
  }

  async function renew(): Promise<'idle'> {
    try {
      await keepLease()
    } catch (error) {
      if (lease === undefined) trouble = toCpError(error)
      throw error
    }
    return 'idle'
  }

  async function keepLease(): Promise<void> {
    if (lease === undefined || generator === undefined) return take()
    const asked = clock.monotonic()
    const highWater = generator.highWater()
    const times = await renewMachineLease(
      db,
      { ...lease, holder, ttlSeconds: TTL_SECONDS, highWater },
      CALL_DEADLINE_MS,
    )
    if (times === undefined) {
      forgetLease()
      deps.onError('lost_claim', `lost machine id ${generator.machineId}`)
      return take()
    }
    databaseClock.observe(times.databaseNowMs, asked, clock.monotonic())
    leaseEndsMs = times.endsMs
    mayMintUntil = asked + TTL_SECONDS * 1000 - SAFETY_MS
    if (!generator.isBehind()) return
    // The database's clock was ahead and came back. What we minted meanwhile must not come again, and waiting for the
    // clock to get there would stop all writes: this machine id stays behind, and another one goes on.
    const left = { ...lease, holder, highWater: generator.highWater() }
    forgetLease()
    deps.onError('unavailable', `the database's clock fell back; leaving machine id ${left.machineId} for another one`)
    await giveBack(left, CALL_DEADLINE_MS)
    await take(left.machineId)
  }

  function forgetLease(): void {
    lease = undefined
    mayMintUntil = 0
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
    runOnce: renew,
  })

  return {
    ...loop,
    start: async () => {
      await take()
      await loop.start()
    },
    stop: async (deadlineMs) => {
      await loop.stop(deadlineMs)
      if (lease === undefined || generator === undefined) return
      const released = { ...lease, holder, highWater: generator.highWater() }
      forgetLease()
      await giveBack(released, Math.min(deadlineMs, CALL_DEADLINE_MS))
    },
    next: () => current().nextOne(),
    nextMany: (count) => current().next(count),
    above: (floor) => current().above(floor),
    nextInShard: (shard, count) => {
      for (;;) {
        const id = current().nextOne()
        if (shardOf(id, count) === shard) return id
      }
    },
    machineId: () => lease?.machineId,
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
